"""The NVIDIA GPU operator on Talos: the image brings driver and toolkit, the operator brings the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning import allocation, counters, inventory
from gpu_platform.planning.fabric import modes
from gpu_platform.planning.mig import objects as mig
from gpu_platform.planning.operators.tolerations import tolerations
from gpu_platform.planning.sharing import objects as sharing

if TYPE_CHECKING:
    from gpu_platform.settings.gpu import GpuSettings
    from gpu_platform.settings.root import Settings

TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
# The labels of a scrape's target would stand for the exporter's pod; the exporter's own stand for the workload.
# An idle card has no workload, and must not be counted for the exporter (facts/alerts: OpenCost needs honorLabels).
RELABELINGS = [
    {"sourceLabels": ["__meta_kubernetes_pod_node_name"], "targetLabel": "node"},
    {"action": "labeldrop", "regex": "pod|namespace|container"},
]


def gpu(settings: Settings) -> GpuSettings:
    """Return section `gpu`; a broken one is an error finding, and then nothing is planned."""
    assert settings.gpu is not None  # noqa: S101
    return settings.gpu


def values(settings: Settings) -> dict[str, Any]:
    """Return the operator's Helm values.

    Sources: siderolabs docs for Talos 1.13; NVIDIA/gpu-operator v26.7.0 templates (validator.*.env).
    """
    no_symlinks = {"name": "DISABLE_DEV_CHAR_SYMLINK_CREATION", "value": "true"}
    workload = {"name": "WITH_WORKLOAD", "value": str(gpu(settings).validation_workload).lower()}
    return {
        "nfd": {"enabled": False},
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "cdi": {"enabled": True},
        "hostPaths": {"driverInstallDir": driver_root()},
        "validator": {"driver": {"env": [no_symlinks]}, "plugin": {"env": [workload]}},
        "devicePlugin": {
            "enabled": allocation.device_plugin(settings),
            # Else it would hand the fabric's devices to every pod with a GPU, past the fabric's own plugin.
            **({"env": [{"name": "MOFED_ENABLED", "value": "false"}]} if modes.present(settings) else {}),
            **sharing.values(settings),
        },
        "dcgmExporter": _exporter(settings),
        "gfd": {"enabled": True},
        "nodeStatusExporter": {"enabled": True},
        **mig.values(settings),
        "daemonsets": {"tolerations": nvidia_tolerations(settings)},
    }


def driver_root() -> str:
    """Return where Talos's extensions put the driver: operator and DRA driver must agree (NVIDIA/aicr#1087)."""
    return str(facts.table("machine")["nvidia"]["driver_root"])


def nvidia_tolerations(settings: Settings) -> list[dict[str, str]]:
    """Return what tolerates the taints of every NVIDIA pool, the default among them."""
    return tolerations(inventory.nvidia_pools(settings).values(), TAINT)


def _exporter(settings: Settings) -> dict[str, Any]:
    section = gpu(settings)
    claims = [{"name": "KUBERNETES_ENABLE_DRA", "value": "true"}] if allocation.dra_pools(settings) else []
    monitor: dict[str, Any] = {"enabled": section.service_monitor}
    if section.service_monitor:
        monitor |= {"honorLabels": True, "relabelings": RELABELINGS}
        monitor |= {"additionalLabels": section.service_monitor_labels} if section.service_monitor_labels else {}
    return {
        "enabled": True,
        "config": {"name": counters.config_map_name(settings)},
        **({"env": claims} if claims else {}),
        "serviceMonitor": monitor,
    }
