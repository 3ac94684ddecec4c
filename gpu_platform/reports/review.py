"""The pull-request comment: what a preview destroys, which nodes reboot, which images and values change."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from gpu_platform.outputs import ContractError, PlatformOutputs, outputs_of, parse
from gpu_platform.planning import plan
from gpu_platform.reports.node_changes import ClassChange, NodeChange, class_changes, grouped, impossible, node_changes
from gpu_platform.settings.root import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding

# What the engine calls a step, by what it does to something that exists.
DESTRUCTIVE = {"delete": "deleted", "replace": "replaced", "delete-replaced": "replaced", "discard": "forgotten"}
CHANGING = {"create": "created", "update": "changed", "import": "imported"}
# Steps that belong to a replacement that is counted once, as `replace`.
PARTS = {"create-replacement", "delete-replaced", "discard-replaced"}


class ReviewError(Exception):
    """One sentence: why this is no preview."""


@dataclass(frozen=True)
class Step:
    """One resource that the preview touches, and which of its inputs differ (path, old, new)."""

    operation: str
    type: str
    name: str
    differences: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Review:
    """What a reviewer has to know, worst first."""

    stack: str
    destroyed: tuple[Step, ...]
    changed: tuple[Step, ...]
    nodes: tuple[NodeChange, ...]
    classes: tuple[ClassChange, ...]
    findings: tuple[Finding, ...]
    failures: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the review for machines."""
        return {**asdict(self), "findings": [one.to_json() for one in self.findings]}


def read(text: str) -> Review:
    """Return the review of what `pulumi preview --json` printed.

    What is planned is worked out anew from the configuration in the preview, and compared with the outputs that the
    stack exported last. Raises ReviewError when `text` is no preview.
    """
    try:
        preview = json.loads(text)
    except (ValueError, RecursionError):
        raise ReviewError("this is no JSON: write the output of `pulumi preview --json` to a file") from None
    if not isinstance(preview, dict) or not isinstance(preview.get("config"), dict):
        raise ReviewError("this is JSON, but not of `pulumi preview --json`: it has no config")
    steps = _steps(preview)
    planned = plan(_document(preview["config"]))
    before, after = _exported(steps), outputs_of(planned.plan) if planned.plan else None
    afresh = frozenset(one.name for one in planned.plan.image.classes if one.reinstall) if planned.plan else frozenset()
    touched = [_step(step) for step in steps if step.get("op") in DESTRUCTIVE | CHANGING and step["op"] not in PARTS]
    return Review(
        stack=_stack(steps),
        destroyed=tuple(one for one in touched if one.operation in DESTRUCTIVE),
        changed=tuple(one for one in touched if one.operation in CHANGING),
        nodes=node_changes(before, after, afresh),
        classes=class_changes(before, after),
        findings=(*impossible(before, after, afresh), *planned.findings),
        failures=tuple(_failures(preview)),
    )


def _steps(preview: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of a preview; raises ReviewError when one is not of the engine's form."""
    steps = preview.get("steps") or []
    if not isinstance(steps, list) or not all(_is_step(one) for one in steps):
        raise ReviewError("this is JSON, but its steps are not those of `pulumi preview --json`")
    return steps


def _is_step(step: Any) -> bool:
    if not isinstance(step, dict) or not isinstance(step.get("op"), str) or str(step.get("urn")).count("::") < 3:
        return False
    states = [step.get(key) or {} for key in ("oldState", "newState")]
    if not all(isinstance(one, dict) for one in states):
        return False
    parts = [one.get(key) or {} for one in states for key in ("inputs", "outputs")]
    return all(isinstance(one, dict) for one in (*parts, step.get("detailedDiff") or {}))


def _document(config: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in config.items():
        if not key.startswith(f"{NAMESPACE}:"):
            continue
        name = key.removeprefix(f"{NAMESPACE}:")
        if value == "[secret]":
            found[name] = {"secure": ""}
            continue
        try:
            found[name] = json.loads(value) if isinstance(value, str) else value
        except ValueError:
            found[name] = value
    return found


def _exported(steps: list[dict[str, Any]]) -> PlatformOutputs | None:
    """Return what the stack exported last; None for a new stack, or one of another contract."""
    stack = next((step for step in steps if str(step.get("urn", "")).endswith(_stack_suffix(step))), {})
    outputs = (stack.get("oldState") or {}).get("outputs") or {}
    try:
        return parse(outputs)
    except ContractError:
        return None


def _stack_suffix(step: dict[str, Any]) -> str:
    return "pulumi:pulumi:Stack::" + str(step.get("urn", "")).rsplit("::", 1)[-1]


def _stack(steps: list[dict[str, Any]]) -> str:
    return next((str(step.get("urn", "")).split("::")[0].removeprefix("urn:pulumi:") for step in steps), "")


def _step(step: dict[str, Any]) -> Step:
    *_, types, name = str(step["urn"]).split("::")
    old, new = ((step.get(state) or {}).get("inputs") or {} for state in ("oldState", "newState"))
    paths = step.get("detailedDiff") or {}
    differences = tuple((path, _value(old, path), _value(new, path)) for path in sorted(paths))
    return Step(str(step["op"]), types.rsplit("$", 1)[-1], name, differences)


def _value(inputs: Any, path: str) -> str:
    """Return the value at a path such as values.driver.enabled or list[0].name as short text; '' where it is absent."""
    here = inputs
    for part in path.replace("]", "").replace("[", ".").split("."):
        here = here.get(part) if isinstance(here, dict) else _item(here, part)
    text = "" if here is None else here if isinstance(here, str) else json.dumps(here)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _item(here: Any, part: str) -> Any:
    return here[int(part)] if isinstance(here, list) and part.isdigit() and int(part) < len(here) else None


def _failures(preview: dict[str, Any]) -> Iterator[str]:
    found = preview.get("diagnostics")
    for one in found if isinstance(found, list) else ():
        if isinstance(one, dict) and one.get("severity") == "error":
            yield (str(one.get("message") or "").strip().splitlines() or ["an error without a word"])[0]


def as_markdown(review: Review) -> str:
    """Return the comment: sections that are empty are left out."""
    counts = [f"{len(review.destroyed)} destroyed or replaced", f"{len(review.changed)} created or changed"]
    upgraded = [node for node in review.nodes if node.reboots]
    head = f"### gpu-platform {review.stack}: {', '.join(counts)}, {len(upgraded)} nodes to upgrade\n"
    sections = (
        _list("The preview failed", review.failures),
        _list("Errors", [str(one) for one in review.findings if one.severity == "error"]),
        _list("Destroyed or replaced", [_line(one) for one in review.destroyed]),
        _list("Nodes", grouped(review.nodes)),
        _list("Images", [str(one) for one in review.classes]),
        _list("Created or changed", [_line(one) for one in review.changed]),
        _list("Warnings", [str(one) for one in review.findings if one.severity == "warning"]),
    )
    body = "".join(sections) or "\nNothing changes.\n"
    return head + body


def _list(title: str, lines: Any) -> str:
    rows = "".join(f"- {line}\n" for line in lines)
    return f"\n**{title}**\n\n{rows}" if rows else ""


def _line(step: Step) -> str:
    verb = {**DESTRUCTIVE, **CHANGING}[step.operation]
    changes = "; ".join(
        f"`{path}`: `{old or 'absent'}` → `{new or 'absent'}`" for path, old, new in step.differences[:8]
    )
    more = f"; and {len(step.differences) - 8} more" if len(step.differences) > 8 else ""
    return f"{verb} `{step.type}` **{step.name}**" + (f": {changes}{more}" if changes else "")
