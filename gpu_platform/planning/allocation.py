"""Who hands out a pool's cards: the device plugin as extended resources, or a DRA driver as devices for claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning import inventory
from gpu_platform.planning.labels import PREFIX

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Pool
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


def node_labels(pool: Pool) -> dict[str, str]:
    """Return the labels that move a node from the device plugin to the DRA driver; {} for nodes that stay.

    The operator leaves a label that says false alone (controllers/state_manager.go of NVIDIA/gpu-operator).
    """
    return {LABEL: DRA, NO_DEVICE_PLUGIN: "false"} if pool.allocation == "dra" else {}
