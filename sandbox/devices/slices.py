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


def slice_of(driver: str, node: str, devices: list[Object]) -> Object:
    """Return the slice in which a driver tells of a node's devices."""
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}
    metadata = {"name": f"{node}-{driver}", "labels": dict(_OWNED)}
    return {"apiVersion": _API, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}


def changes(wanted: Iterable[Object], there: Iterable[Object]) -> tuple[list[str], list[Object]]:
    """Return the names to delete and the slices to apply; a pool whose devices change gets the next generation."""
    before = {one["metadata"]["name"]: one["spec"] for one in there}
    names, apply = set(), []
    for one in wanted:
        name, spec = one["metadata"]["name"], one["spec"]
        names.add(name)
        found = before.get(name)
        if found is None:
            apply.append(one)
        elif found.get("devices") != spec["devices"]:
            pool = {**spec["pool"], "generation": found["pool"]["generation"] + 1}
            apply.append({**one, "spec": {**spec, "pool": pool}})
    return sorted(set(before) - names), apply


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
