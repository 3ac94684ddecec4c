"""What NVIDIA's operator does beside the nodes: runtime classes, and the status of every ClusterPolicy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.devices.view import POLICY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.hardware import Object
    from sandbox.devices.view import View


def runtime_classes(view: View, there: Iterable[Object]) -> tuple[list[str], list[Object]]:
    """Return the names to delete and the objects to apply, so that the operator's runtime classes follow its policy.

    One that somebody else made is taken over, as the operator does (NVIDIA/gpu-operator#2145).
    """
    policy = view.policy if view.operator_running else None
    wanted = [_runtime_class(name, policy) for name in _names(policy)] if policy else []
    owners = {one["metadata"]["name"]: _owner(one) for one in there}
    names = {one["metadata"]["name"] for one in wanted}
    gone = [name for name, owner in owners.items() if owner and name not in names and not _orphan(view, owner)]
    return gone, [one for one in wanted if owners.get(one["metadata"]["name"]) != _owner(one)]


def statuses(view: View, failing: Iterable[str], now: str) -> dict[str, Object]:
    """Return the status of each ClusterPolicy that has another one; without an operator nobody writes any."""
    if not view.operator_running or view.operator is None:
        return {}
    names = ", ".join(sorted(failing))
    message = f"not ready on {names}" if names else "all operands are ready"
    found: dict[str, Object] = {}
    for policy in view.policies:
        name, before = policy["metadata"]["name"], policy.get("status") or {}
        state = "ignored" if name != POLICY else "notReady" if names else "ready"
        told = [one.get("message") for one in before.get("conditions") or ()]
        if before.get("state") != state or told != [message]:
            space = view.operator["metadata"]["namespace"]
            found[name] = {"state": state, "namespace": space, "conditions": [_condition(not names, message, now)]}
    return found


def _condition(ready: bool, message: str, now: str) -> Object:
    reason = "Reconciled" if ready else "OperandNotReady"
    head = {"type": "Ready", "status": str(ready), "reason": reason}
    return {**head, "message": message, "lastTransitionTime": now}


def _names(policy: Object) -> list[str]:
    spec = policy.get("spec") or {}
    with_cdi = ["nvidia-cdi", "nvidia-legacy"] if (spec.get("cdi") or {}).get("enabled", True) else []
    return [(spec.get("operator") or {}).get("runtimeClass") or "nvidia", *with_cdi]


def _runtime_class(name: str, policy: Object) -> Object:
    metadata = policy["metadata"]
    owner = {"apiVersion": "nvidia.com/v1", "kind": "ClusterPolicy", "name": metadata["name"], "uid": metadata["uid"]}
    head = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass"}
    return {**head, "metadata": {"name": name, "ownerReferences": [{**owner, "controller": True}]}, "handler": name}


def _owner(runtime_class: Object) -> str | None:
    owners = runtime_class["metadata"].get("ownerReferences") or ()
    return next((str(one["uid"]) for one in owners if one["kind"] == "ClusterPolicy"), None)


def _orphan(view: View, owner: str) -> bool:
    """Tell whether the owner is still there while its operator is not: then nobody cleans up."""
    return not view.operator_running and any(one["metadata"]["uid"] == owner for one in view.policies)
