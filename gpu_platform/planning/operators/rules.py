"""What a stack file must not say of operators: who owns a namespace, a value, a release."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning.operators.catalogue import catalogued, namespace
from gpu_platform.planning.operators.kinds import KINDS, wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

# What is read of an operator that somebody else installed.
_OF_EXISTING = {"manage", "version", "namespace"}


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the operators beyond their shape and versions."""
    owners: dict[str, tuple[str, str]] = {}
    for name, operator in wanted(settings).items():
        space = namespace(name, operator)
        first, owned = owners.setdefault(space, (name, operator.manage_namespace))
        if owned != operator.manage_namespace:
            says = f"{first} says it is {_says(owned)}, {name} says it is {_says(operator.manage_namespace)}"
            message = f"who owns namespace {space}? {says}"
            yield finding("CFG-017", f"operators.{name}.manageNamespace", message, "write the same in both")
        yield from _unread(name, operator)
        yield from _values(name, operator, settings)
    if settings.gpu and settings.gpu.dra.compute_domains and "dra-driver" in wanted(settings):
        row = facts.table("compat")["compute_domains"]
        yield finding("GPU-015", "gpu.dra.computeDomains", row["what"], row["fix"])


def _says(manage: str) -> str:
    return "there already" if manage == "existing" else "made by this stack"


def _unread(name: str, operator: Operator) -> Iterator[Finding]:
    if operator.manage == "existing":
        agrees = {"manage_namespace"} if operator.manage_namespace == "existing" else set()
        for field in sorted(operator.model_fields_set - _OF_EXISTING - agrees):
            key = type(operator).model_fields[field].alias or field
            message = f"{name} is somebody else's release (manage: existing), which nothing here changes"
            yield finding("CFG-018", f"operators.{name}.{key}", message, "leave it out, or say it where that is made")


def _values(name: str, operator: Operator, settings: Settings) -> Iterator[Finding]:
    if operator.manage == "existing":
        return
    refused = {row["path"]: row for row in facts.table("chart_values")["refused"] if row["operator"] == name}
    yield from _unknown(name, {key: value for key, value in operator.values.items() if key not in refused})
    for key in operator.values:
        if (row := refused.get(key)) and "right" not in row:
            yield finding("GPU-010", f"operators.{name}.values.{key}", row["why"], row["fix"])
    for path, value, own in _conflicts(operator.values, KINDS[name].values(settings), ()):
        where = f"operators.{name}.values.{path}"
        if path in refused and value != refused[path].get("right", value):
            yield finding("GPU-010", where, refused[path]["why"], refused[path]["fix"])
        elif own is not None:
            message = f"{_short(value)} is written here, and this stack writes {_short(own)}"
            yield finding("GPU-010", where, message, "leave it out: what decides it is elsewhere in the stack file")


def _conflicts(theirs: Any, ours: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any, Any]]:
    """Yield path, their value and ours (None where we say nothing) for every leaf that is not the same."""
    if isinstance(theirs, dict) and (isinstance(ours, dict) or ours is None):
        for key, value in theirs.items():
            yield from _conflicts(value, (ours or {}).get(key), (*path, str(key)))
    elif theirs != ours:
        yield ".".join(path), theirs, ours


def _short(value: Any) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _unknown(name: str, values: dict[str, Any]) -> Iterator[Finding]:
    """Yield values that the chart does not read: charts without a schema drop them in silence."""
    known: dict[str, list[str]] | None = facts.table("chart_values")["known"].get(name)
    if known is None:
        return
    chart = catalogued(name)["chart"]
    for key, value in values.items():
        where = f"operators.{name}.values.{key}"
        if key not in known:
            yield finding("GPU-011", where, f"chart {chart} has no value {key}", did_you_mean(str(key), known))
        elif known[key] and isinstance(value, dict):
            for inner in value:
                if inner not in known[key]:
                    message = f"chart {chart} has no value {key}.{inner}"
                    yield finding("GPU-011", f"{where}.{inner}", message, did_you_mean(str(inner), known[key]))
