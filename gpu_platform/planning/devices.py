"""What each node hands out: extended resources, or devices of a class for claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning import allocation, inventory, partitions
from gpu_platform.planning.mig import nodes as mig
from gpu_platform.planning.sharing import configs
from gpu_platform.planning.sharing import objects as sharing

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings


def resources(settings: Settings, pool: Pool, node: Node) -> dict[str, int]:
    """Return the extended resources of a node; {} outside the cluster, and where cards are claimed."""
    vendor = inventory.card(pool).get("vendor")
    if not inventory.state(node)["joined"] or vendor is None:
        return {}
    if vendor == "nvidia":
        return _nvidia(settings, pool, node)
    if pool.allocation == "dra":
        return {}
    return {str(facts.table("vendors")[vendor]["resource"]): partitions.devices(pool, node)}


def classes(settings: Settings, pool: Pool, node: Node) -> dict[str, int]:
    """Return the devices of a node by their DeviceClass; {} where cards are extended resources."""
    vendor = inventory.card(pool).get("vendor")
    if pool.allocation != "dra" or vendor is None or not inventory.state(node)["joined"]:
        return {}
    row = facts.table("vendors")[vendor]
    if vendor != "nvidia":
        return {row["device_class"]: partitions.devices(pool, node)}
    if not inventory.state(node)["patched"]:
        return {}
    cards = mig.cards(settings, pool, node)
    found = {row["device_class"]: cards.count(()), row["slice_class"]: sum(map(len, cards))}
    return {name: count for name, count in found.items() if count}


def _nvidia(settings: Settings, pool: Pool, node: Node) -> dict[str, int]:
    patched = inventory.state(node)["patched"]
    if pool.allocation == "dra" and (patched or not allocation.device_plugin(settings)):
        return {}
    name = configs.chosen(pool, node)
    if patched and name in configs.ways(settings):
        return sharing.shared(settings, pool, node, name)
    return mig.unshared(settings, pool, node)
