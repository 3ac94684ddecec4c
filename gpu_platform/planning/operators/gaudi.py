"""Intel Gaudi on nodes that do not run Talos: its operator, or its DRA driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning import allocation
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings

# What node feature discovery may taint such nodes with, in the chart's own list.
_TAINT = {"key": "intel.feature.node.kubernetes.io/gaudi", "operator": "Exists", "effect": "NoSchedule"}


def values(_settings: Settings) -> dict[str, Any]:
    """Return the Helm values of the operator: none, since its chart publishes none that could be checked here."""
    return {}


def dra_values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values of the DRA driver: feature discovery elsewhere, and the nodes of its pools.

    Source: intel/intel-resource-drivers-for-kubernetes, charts/intel-gaudi-resource-driver.
    """
    pools = allocation.dra_pools(settings, "intel").values()
    # Its own rule does not know the cards of Gaudi 3 (device 1060), and would take the selector's place.
    return {
        "nfd": {"enabled": False},
        "nodeFeatureRules": {"enabled": False},
        "kubeletPlugin": {
            "nodeSelector": {allocation.LABEL: allocation.DRA},
            "tolerations": tolerations(pools, _TAINT),
        },
    }
