"""Intel Gaudi on nodes that do not run Talos: its operator, or its DRA driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning import allocation
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(_settings: Settings) -> dict[str, Any]:
    """Return the Helm values of the operator: none, since its chart publishes none that could be checked here."""
    return {}


def dra_values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values of the DRA driver: feature discovery elsewhere, and the nodes of its pools.

    Source: intel/intel-resource-drivers-for-kubernetes, charts/intel-gaudi-resource-driver.
    """
    pools = allocation.dra_pools(settings, "intel").values()
    selector = {allocation.LABEL: allocation.DRA}
    return {"nfd": {"enabled": False}, "kubeletPlugin": {"nodeSelector": selector, "tolerations": tolerations(pools)}}
