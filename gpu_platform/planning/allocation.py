"""Who hands out a pool's cards: the device plugin as extended resources, or a DRA driver as devices for claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.labels import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

# Where the DRA driver's plugin runs; whoever sets it takes the device plugin away in the same write.
LABEL, DRA = f"{PREFIX}/allocation", "dra"
NO_DEVICE_PLUGIN = "nvidia.com/gpu.deploy.device-plugin"


def dra_pools(settings: Settings, vendor: str = "nvidia") -> dict[str, Pool]:
    """Return the pools of a vendor whose cards are claimed, by name."""
    pools = inventory.of_vendor(settings, vendor)
    return {name: pool for name, pool in pools.items() if pool.allocation == "dra"}


def device_plugin(settings: Settings) -> bool:
    """Tell whether any NVIDIA pool needs the device plugin; where none does, no node that joins gets it for a while."""
    return len(dra_pools(settings)) < len(inventory.nvidia_pools(settings))


def node_labels(_settings: Settings, pool: Pool, _node: Node) -> dict[str, str]:
    """Return the labels that move a node from the device plugin to the DRA driver; {} for nodes that stay.

    The GPU operator leaves a label that says false alone (controllers/state_manager.go of NVIDIA/gpu-operator).
    """
    if pool.allocation != "dra":
        return {}
    return {LABEL: DRA, **({NO_DEVICE_PLUGIN: "false"} if inventory.card(pool)["vendor"] == "nvidia" else {})}


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield Gaudi pools that its operator cannot serve, and those that it cannot be kept off."""
    for name, pool in inventory.of_vendor(settings, "intel").items():
        if pool.taints and pool.allocation == "devicePlugin" and pool.os != "talos":
            message = "pods of the Gaudi operator tolerate no taints: none would be handed out here"
            fix = "leave taints out, or write allocation: dra, whose driver tolerates them"
            yield finding("GPU-019", f"inventory.pools.{name}.taints", message, fix)
    claimed, pools = dra_pools(settings, "intel"), inventory.of_vendor(settings, "intel")
    if claimed and len(claimed) < len(pools):
        counted = next(name for name in pools if name not in claimed)
        message = (
            f"pool {counted} uses the device plugin, which the Gaudi operator runs on every Gaudi node, "
            "and both would hand out the same cards"
        )
        path = f"inventory.pools.{next(iter(claimed))}.allocation"
        yield finding("GPU-018", path, message, "write the same allocation for all Gaudi pools")
