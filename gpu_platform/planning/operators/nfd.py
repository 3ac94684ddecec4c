"""Node Feature Discovery: one for all vendors, since two would fight over the same labels (NVIDIA/gpu-operator#87)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.planning.operators.nvidia import TAINT
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values: the PCI classes that all vendors' rules need, on every node with accelerators."""
    classes = facts.table("catalog")["operator"]["nfd"]["pci_classes"]
    sources = {"pci": {"deviceClassWhitelist": classes, "deviceLabelFields": ["vendor"]}}
    # Where its worker leaves, the labels go by which operators know the node: it outlasts taints for a while.
    amd = _for_a_while() if inventory.of_vendor(settings, "amd") else []
    tolerated = tolerations(inventory.accelerated(settings).values(), TAINT, *amd)
    return {"worker": {"config": {"sources": sources}, "tolerations": tolerated}}


def _for_a_while() -> list[dict[str, str]]:
    manager = facts.table("amd_partitions")["manager"]
    taints = (manager["taint"], manager["unhealthy_taint"])
    return [{"key": one["key"], "operator": "Exists", "effect": one["effect"]} for one in taints]
