"""From a document to settings: sections one by one, every fault a finding."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpu_platform.findings import Finding, did_you_mean, finding
from gpu_platform.settings.explain_errors import to_finding
from gpu_platform.settings.root import NAMESPACE, NOT_YET, SECRETS, SECTIONS, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpu_platform.settings.base import Section

REQUIRED = ("cluster", "inventory")


def read(document: Mapping[str, Any]) -> tuple[Settings, tuple[Finding, ...]]:
    """Return the settings in `document` (short key to value) and everything that is wrong with their shape.

    A missing optional section has its defaults; a broken or missing required one is None.
    """
    findings = [*_unknown_keys(document), *_secret_keys(document)]
    sections: dict[str, Any] = {}
    for name, model in SECTIONS.items():
        sections[name], wrong = _section(name, model, document)
        findings += wrong
    secrets = frozenset(name for name in SECRETS if _is_secret(document.get(name)))
    return Settings(**sections, secrets=secrets), tuple(findings)


def _section(name: str, model: type[Section], document: Mapping[str, Any]) -> tuple[Section | None, list[Finding]]:
    if name not in document and name in REQUIRED:
        fix = f"write {NAMESPACE}:{name} with {', '.join(_required(model))}"
        return None, [finding("CFG-003", name, "this section is missing", fix)]
    value = document.get(name)
    value = {} if value is None else value
    try:
        if secrets := list(_secrets(value, name)):
            return None, [_secret_inside(path) for path in secrets]
        # JSON on purpose: in strict mode it knows lists where Python objects would have to be tuples.
        return model.model_validate_json(json.dumps(value, default=str)), []
    except ValidationError as error:
        return None, [to_finding(name, model, one) for one in error.errors(include_url=False)]
    except (TypeError, ValueError, RecursionError) as error:
        what = f"this section cannot be read ({str(error).splitlines()[0]})"
        return None, [finding("CFG-002", name, what, "write plain YAML mappings, lists, text, numbers")]


def _required(model: type[Section]) -> list[str]:
    return [info.alias or name for name, info in model.model_fields.items() if info.is_required()]


def _unknown_keys(document: Mapping[str, Any]) -> Iterator[Finding]:
    known = {*SECTIONS, *SECRETS}
    for key in document:
        if key in NOT_YET:
            yield finding("CFG-007", key, "this version does nothing with this section yet", "remove it until it does")
        elif key not in known:
            yield finding("CFG-001", str(key), "unknown key", did_you_mean(str(key), known))


def _secret_keys(document: Mapping[str, Any]) -> Iterator[Finding]:
    for name in SECRETS:
        if name in document and not _is_secret(document[name]):
            fix = f"run pulumi config set --secret {NAMESPACE}:{name}"
            yield finding("CFG-009", name, "a secret stands in the stack file in plain text", fix)


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"secure"}


def _secrets(value: Any, path: str) -> Iterator[str]:
    if _is_secret(value):
        yield path
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _secrets(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _secrets(inner, f"{path}[{index}]")


def _secret_inside(path: str) -> Finding:
    return finding(
        "CFG-006",
        path,
        "a secret inside a section is handed out and kept in state in plain text",
        f"use one of the flat keys {', '.join(SECRETS)}, or name a Kubernetes Secret that exists",
    )
