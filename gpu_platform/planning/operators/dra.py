"""NVIDIA's DRA driver beside the GPU operator: claims instead of counts, on the nodes of pools with allocation dra."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning import allocation
from gpu_platform.planning.operators.nvidia import TAINT, driver_root, gpu
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values: the operator's driver root, and only nodes that gave up the device plugin.

    Without the override the chart refuses to hand out GPUs, since it cannot know that no device plugin does.
    Source: kubernetes-sigs/dra-driver-nvidia-gpu 0.4.1, values.yaml and templates/validation.yaml.
    """
    pools = allocation.dra_pools(settings).values()
    return {
        "nvidiaDriverRoot": driver_root(),
        "gpuResourcesEnabledOverride": True,
        "resources": {"gpus": {"enabled": True}, "computeDomains": {"enabled": gpu(settings).dra.compute_domains}},
        "kubeletPlugin": {
            "nodeSelector": {allocation.LABEL: allocation.DRA},
            "tolerations": tolerations(pools, TAINT),
        },
    }
