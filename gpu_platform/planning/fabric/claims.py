"""Rails and cards as devices for claims: one class for rails, and for each pool a template that names them all."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.planning.fabric import names
from gpu_platform.planning.fabric.groups import pools
from gpu_platform.planning.fabric.modes import row

if TYPE_CHECKING:
    from gpu_platform.planning.fabric.groups import Group
    from gpu_platform.settings.root import Settings

API = "resource.k8s.io/v1"


def claimed(settings: Settings) -> bool:
    """Tell whether rails are claimed, instead of counted."""
    return bool(row(settings)["operator"] == "dranet")


def device_class(settings: Settings) -> dict[str, Any]:
    """Return the class of all rails: dranet brings none of its own."""
    driver = facts.table("fabric")["dranet"]["driver"]
    expression = f'device.driver == "{driver}" && device.attributes["{driver}"].rdma'
    return {
        "apiVersion": API,
        "kind": "DeviceClass",
        "metadata": {"name": names.base(settings)},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def template(settings: Settings, group: Group, namespace: str) -> dict[str, Any] | None:
    """Return what a pod on a pool claims: every rail by its port, and every card where those are claimed, too.

    The name ends in a hash of what is claimed: a template cannot be changed. None where nothing is claimed.
    """
    requests = [*_cards(settings, group), *_rails(settings, group)]
    if not requests:
        return None
    spec = {"spec": {"devices": {"requests": requests}}}
    digest = hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:8]
    name = f"{names.base(settings)}-{group.pool}-{digest}"
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}


def _rails(settings: Settings, group: Group) -> list[dict[str, Any]]:
    if not claimed(settings):
        return []
    driver = facts.table("fabric")["dranet"]["driver"]
    return [
        _request(f"rail-{rail}", names.base(settings), 1, f'device.attributes["{driver}"].pciAddress == "{port.pci}"')
        for rail, port in enumerate(group.ports)
    ]


def _cards(settings: Settings, group: Group) -> list[dict[str, Any]]:
    pool = pools(settings)[group.pool]
    if pool.allocation != "dra" or not pool.gpu:
        return []
    vendor = facts.table("vendors")[inventory.card(pool)["vendor"]]
    return [_request("cards", vendor["device_class"], inventory.per_node(pool))]


def _request(name: str, device_class_name: str, count: int, expression: str = "") -> dict[str, Any]:
    selectors = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
    exactly = {"deviceClassName": device_class_name, "allocationMode": "ExactCount", "count": count, **selectors}
    return {"name": name, "exactly": exactly}
