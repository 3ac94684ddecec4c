"""Which nodes a DaemonSet's pods may run on, as the scheduler and Pod Security admission would say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.hardware import Machine, Object

# The DaemonSet controller tolerates these for every pod that it makes.
_ALWAYS = tuple(
    f"node.kubernetes.io/{what}"
    for what in ("not-ready", "unreachable", "disk-pressure", "memory-pressure", "pid-pressure", "unschedulable")
)
ENFORCE = "pod-security.kubernetes.io/enforce"


def untolerated(machine: Machine, tolerations: Iterable[Object]) -> Object | None:
    """Return the first taint that keeps a DaemonSet's pods off the machine."""
    allowed = tuple(tolerations)
    for taint in machine.taints:
        repels = taint.get("effect") != "PreferNoSchedule" and taint.get("key") not in _ALWAYS
        if repels and not any(_tolerates(one, taint) for one in allowed):
            return taint
    return None


def selected(pod: Object, labels: dict[str, str]) -> bool:
    """Tell whether a pod's node selector and required node affinity choose a node with these labels."""
    if any(labels.get(key) != value for key, value in (pod.get("nodeSelector") or {}).items()):
        return False
    affinity = (pod.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = required["nodeSelectorTerms"] if required else None
    return terms is None or any(_matches(term, labels) for term in terms)


def _matches(term: Object, labels: dict[str, str]) -> bool:
    """Tell whether every expression of one term holds; a term without any chooses nothing."""
    expressions = term.get("matchExpressions") or ()
    held = {
        "In": lambda one: labels.get(one["key"]) in one["values"],
        "NotIn": lambda one: labels.get(one["key"]) not in one["values"],
        "Exists": lambda one: one["key"] in labels,
        "DoesNotExist": lambda one: one["key"] not in labels,
        "Gt": lambda one: _difference(labels, one) > 0,
        "Lt": lambda one: _difference(labels, one) < 0,
    }
    return bool(expressions) and all(held[one["operator"]](one) for one in expressions)


def _difference(labels: dict[str, str], one: Object) -> int:
    """Return by how much a label's number is above the one of an expression; 0 where the label is no number."""
    found = labels.get(one["key"], "")
    return int(found) - int(one["values"][0]) if re.fullmatch(r"-?\d+", found) else 0


def spelled(taint: Object) -> str:
    """Return a taint as kubectl writes it."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint.get('key')}{value}:{taint.get('effect')}"


def admits_privileged(namespace_labels: dict[str, str] | None) -> bool:
    """Tell whether Talos admits pods with host paths in a namespace: only where it says so, the default is baseline."""
    return (namespace_labels or {}).get(ENFORCE) == "privileged"


def admitted(namespaces: dict[str, dict[str, str]], space: str) -> bool:
    """Tell whether Talos admits such pods in a namespace by its name: it exempts kube-system."""
    return space == "kube-system" or admits_privileged(namespaces.get(space))


def _tolerates(toleration: Object, taint: Object) -> bool:
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    operator = toleration.get("operator") or "Equal"
    if not toleration.get("key"):
        return bool(operator == "Exists")
    if toleration["key"] != taint.get("key"):
        return False
    return operator == "Exists" or (toleration.get("value") or "") == (taint.get("value") or "")
