"""The ROCm GPU operator: the image brings the driver, one DeviceConfig tells it of each AMD pool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning import inventory, partitions
from gpu_platform.planning.labels import PREFIX
from gpu_platform.planning.operators.nvidia import RELABELINGS, gpu
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.inventory import Pool
    from gpu_platform.settings.root import Settings

API = "amd.com/v1alpha1"
# The feature rule of the chart puts it on every node with an AMD card.
PRESENT = "feature.node.kubernetes.io/amd-gpu"


def values(_settings: Settings) -> dict[str, Any]:
    """Return the Helm values: no kernel module management, no remediation by workflows, feature discovery elsewhere.

    Source: ROCm documentation for Talos. The chart's own DeviceConfig is never updated by Helm (crds.defaultCR.upgrade
    false), so that those of the pools stand on their own.
    """
    return {
        "node-feature-discovery": {"enabled": False},
        "installdefaultNFDRule": True,
        "kmm": {"enabled": False, "watch": False},
        "remediation": {"enabled": False, "installCRDs": False},
        "crds": {"defaultCR": {"install": False, "upgrade": False}},
        "defaultDCMConfigMap": {"install": False},
    }


def device_configs(settings: Settings, namespace: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the key and body of each pool's DeviceConfig."""
    for name, pool in inventory.of_vendor(settings, "amd").items():
        metadata = {"name": name, "namespace": namespace}
        spec = _spec(settings, name, pool)
        yield f"{name}-device-config", {"apiVersion": API, "kind": "DeviceConfig", "metadata": metadata, "spec": spec}


def _spec(settings: Settings, name: str, pool: Pool) -> dict[str, Any]:
    tolerated = tolerations([pool])
    claimed = pool.allocation == "dra"
    return {
        "selector": {PRESENT: "true", f"{PREFIX}/pool": name},
        "driver": {"enable": False},
        "devicePlugin": {
            "enableDevicePlugin": not claimed,
            "enableNodeLabeller": True,
            # Every partition of a node is of one kind here, so that one name serves.
            **({} if claimed else {"devicePluginArguments": {"resource_naming_strategy": "single"}}),
            "devicePluginTolerations": tolerated,
            "nodeLabellerTolerations": tolerated,
        },
        "draDriver": {"enable": claimed, "tolerations": tolerated},
        "metricsExporter": {"enable": True, "tolerations": tolerated, **_monitor(settings)},
        "configManager": _config_manager(settings, pool, tolerated),
    }


def _monitor(settings: Settings) -> dict[str, Any]:
    if not gpu(settings).service_monitor:
        return {}
    labels = {"labels": gpu(settings).service_monitor_labels} if gpu(settings).service_monitor_labels else {}
    return {
        "prometheus": {
            "serviceMonitor": {"enable": True, "honorLabels": True, "relabelings": RELABELINGS, **labels},
        }
    }


def _config_manager(settings: Settings, pool: Pool, tolerated: list[dict[str, str]]) -> dict[str, Any]:
    if not partitions.used(pool):
        return {"enable": False}
    config = {"name": partitions.config_map_name(settings)}
    return {"enable": True, "config": config, "configManagerTolerations": tolerated}
