"""Every fault of an Image Factory that was thought of, and what each command of Pulumi does then.

docs/reliability.md shows this table; the tests prove it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One fault: how it is made (a mode of the sandbox's proxy, or another URL), and a part of each sentence.

    An empty text means that the command succeeds. A preview that warns succeeds too, `destroy` always does.
    """

    name: str
    mode: str
    warns: str = ""
    preview: str = ""
    up: str = ""
    refresh: str = ""


WELL = "nothing was half-written"
FAULTS = (
    Fault(
        "connection refused",
        "url:refused",
        warns="cannot be reached",
        up="cannot be reached",
        refresh="cannot be reached",
    ),
    Fault(
        "certificate of an unknown authority",
        "url:tls",
        warns="a certificate that is not trusted",
        up="image.factory.caFile",
        refresh="image.factory.caFile",
    ),
    Fault(
        "connection closed without an answer",
        "down",
        warns="cannot be reached",
        up="cannot be reached",
        refresh="cannot be reached",
    ),
    Fault(
        "no answer in time",
        "slow:8",
        warns="gave no answer in",
        up="image.factory.timeoutSeconds",
        refresh="image.factory.timeoutSeconds",
    ),
    Fault("a slow answer in time", "slow:0.5"),
    Fault(
        "an answer that breaks off",
        "truncated",
        warns="broke off its answer",
        up="broke off its answer",
        refresh="broke off its answer",
    ),
    Fault("500", "500", warns="it answered 500", up=WELL, refresh=WELL),
    Fault("502 with a page of HTML", "502", warns="an HTML page of something before it", up=WELL, refresh=WELL),
    Fault("503", "503", warns="it answered 503", up=WELL, refresh=WELL),
    Fault("429", "429", warns="it answered 429", up=WELL, refresh=WELL),
    Fault(
        "401",
        "unauthorized",
        warns="gpu-platform:factoryToken",
        up="gpu-platform:factoryToken",
        refresh="gpu-platform:factoryToken",
    ),
    Fault(
        "200 with a login page",
        "html",
        warns="the answer is not a factory's",
        up="the answer is not a factory's",
        refresh="the answer is not a factory's",
    ),
    Fault("another ID than ours", "wrong-id", up="nothing was changed"),
    Fault("another document than ours", "wrong-text", up="nothing was changed"),
    Fault("an ID that differs by its owner", "owner", up="write image.factory.owner: acme"),
    Fault("404 after 201", "forgetful"),
    Fault(
        "the Talos release is not offered",
        "no-release",
        preview="does not build Talos v1.13.9",
        up="does not build Talos v1.13.9",
    ),
    Fault("a malformed list of extensions", "malformed", warns="the answer is not a factory's"),
)


def as_markdown() -> str:
    """Return the table of docs/reliability.md."""
    head = ["| the factory | preview | up | refresh | destroy |", "|---|---|---|---|---|"]
    return "\n".join([*head, *map(_row, FAULTS)]) + "\n"


def _row(one: Fault) -> str:
    preview = f"fails: *{one.preview}*" if one.preview else f"works, warns: *{one.warns}*" if one.warns else "works"
    rest = (f"fails: *{text}*" if text else "works" for text in (one.up, one.refresh, ""))
    return f"| {one.name} | {preview} | {' | '.join(rest)} |"
