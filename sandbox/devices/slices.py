"""ResourceSlices: one per node and driver, created, changed and deleted as the decisions say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.kube import ApiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.hardware import Object
    from sandbox.kube import Kube

_API, _PLURAL = "resource.k8s.io/v1", "resourceslices"
_OWNED = {"sandbox.gpu-platform/publisher": "devices"}


def slice_of(driver: str, node: str, devices: list[Object], uid: str = "") -> Object:
    """Return the slice in which a driver tells of a node's devices; with its uid, the node owns it."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    metadata: Object = {"name": f"{node}-{driver}", "labels": dict(_OWNED)}
    if uid:
        owner = {"apiVersion": "v1", "kind": "Node", "name": node, "uid": uid, "controller": True}
        metadata["ownerReferences"] = [owner]
    return {"apiVersion": _API, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


def changes(wanted: Iterable[Object], there: Iterable[Object]) -> tuple[list[str], list[Object]]:
    """Return the names to delete and the slices to apply; a pool whose devices change gets the next generation."""
    before = {one["metadata"]["name"]: one for one in there}
    names, apply = set(), []
    for one in wanted:
        name, spec = one["metadata"]["name"], one["spec"]
        names.add(name)
        found = before.get(name)
        if found is None:
            apply.append(one)
            continue
        changed = found["spec"].get("devices") != spec["devices"]
        # A node of the same name that was made anew owns nothing yet: the slice of the old one is collected with it.
        if changed or _owners(found) != _owners(one):
            generation = found["spec"]["pool"]["generation"] + changed
            apply.append({**one, "spec": {**spec, "pool": {**spec["pool"], "generation": generation}}})
    return sorted(set(before) - names), apply


def _owners(one: Object) -> set[str]:
    return {owner["uid"] for owner in one["metadata"].get("ownerReferences") or ()}


def publish(kube: Kube, wanted: list[Object], manager: str) -> bool:
    """Make the cluster's slices of this simulator the wanted ones; tell whether anything was written."""
    there = _present(kube)
    if there is None:  # a cluster without the API has drivers that publish nothing
        return False
    gone, apply = changes(wanted, there)
    for name in gone:
        kube.delete(_API, _PLURAL, None, name)
    for one in apply:
        kube.apply(one, _PLURAL, manager=manager)
    return bool(gone or apply)


def _present(kube: Kube) -> list[Any] | None:
    selector = ",".join(f"{key}={value}" for key, value in _OWNED.items())
    try:
        return kube.items(_API, _PLURAL, labelSelector=selector)
    except ApiError as error:
        if error.code == 404:
            return None
        raise
