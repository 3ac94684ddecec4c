"""What the simulator looks at beside NVIDIA's objects: rules of feature discovery, AMD's and Intel's operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.kube import ApiError

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object
    from sandbox.kube import Kube

# What spec.configManager mounts where it names nothing (ROCm/gpu-operator v1.5.1, internal/configmanager).
DEFAULT_LIBRARY = "default-dcm-config"
_APPS, _AMD_API = "apps/v1", "amd.com/v1alpha1"
_MASTER = "app.kubernetes.io/name=node-feature-discovery,role=master"
_AMD = "app.kubernetes.io/part-of=amd-gpu,control-plane=controller-manager"
_GAUDI = "app.kubernetes.io/name=habana-ai-operator,control-plane=controller-manager"
_GAUDI_PLUGIN = "metadata.name=intel-gaudi-resource-driver-kubelet-plugin"


@dataclass(frozen=True)
class Others:
    """The objects that decide about machines without NVIDIA cards; libraries holds ConfigMaps by namespace and name."""

    rules: tuple[Object, ...] = ()
    amd_operator: Object | None = None
    device_configs: tuple[Object, ...] = ()
    libraries: dict[str, dict[str, str]] = field(default_factory=dict)
    kmm: bool = False
    service_monitors: bool = False
    gaudi_operator: Object | None = None
    gaudi_policies: tuple[Object, ...] = ()
    gaudi_plugin: Object | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of one machine: like a decision, with a sentence for people."""

    sentence: str
    labels: dict[str, str] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)
    slices: tuple[Object, ...] = ()


def look(kube: Kube) -> Others:
    """Return what the cluster holds now; what nobody installed costs one question."""
    configs = listed(kube, _AMD_API, "deviceconfigs") or []
    policies = listed(kube, "habanalabs.habana.ai/v1", "clusterpolicies") or []
    return Others(
        rules=tuple(_rules(kube)),
        amd_operator=first(kube, "deployments", labelSelector=_AMD) if configs else None,
        device_configs=tuple(configs),
        libraries={f"{space}/{name}": data for space, name, data in _libraries(kube, configs)},
        kmm=bool(configs) and listed(kube, "kmm.sigs.x-k8s.io/v1beta1", "modules") is not None,
        service_monitors=bool(configs) and listed(kube, "monitoring.coreos.com/v1", "servicemonitors") is not None,
        gaudi_operator=first(kube, "deployments", labelSelector=_GAUDI) if policies else None,
        gaudi_policies=tuple(policies),
        gaudi_plugin=first(kube, "daemonsets", fieldSelector=_GAUDI_PLUGIN),
    )


def clean_up(kube: Kube, seen: Others) -> bool:
    """Play the pre-delete hook of AMD's chart: its pod would remove every DeviceConfig."""
    if seen.amd_operator is None:
        return False
    space = seen.amd_operator["metadata"]["namespace"]
    if _absent_is_none(kube, "batch/v1", "jobs", space, "delete-leftover-deviceconfigs") is None:
        return False
    for one in seen.device_configs:
        kube.delete(_AMD_API, "deviceconfigs", one["metadata"]["namespace"], one["metadata"]["name"])
    return bool(seen.device_configs)


def available(deployment: Object | None) -> bool:
    """Tell whether a Deployment has an available replica."""
    return bool(deployment and (deployment.get("status") or {}).get("availableReplicas"))


def _rules(kube: Kube) -> list[Object]:
    """Return the rules that a master reads; without a running master there is nobody to read them."""
    rules = listed(kube, "nfd.k8s-sigs.io/v1alpha1", "nodefeaturerules") or []
    return rules if rules and available(first(kube, "deployments", labelSelector=_MASTER)) else []


def _libraries(kube: Kube, configs: list[Object]) -> list[tuple[str, str, dict[str, str]]]:
    wanted: set[tuple[str, str]] = set()
    for one in configs:
        for section, default in (("configManager", DEFAULT_LIBRARY), ("metricsExporter", "")):
            found = ((one.get("spec") or {}).get(section) or {}).get("config") or {}
            wanted.add((one["metadata"]["namespace"], found.get("name") or default))
    maps = [(space, name, _absent_is_none(kube, "v1", "configmaps", space, name)) for space, name in wanted if name]
    return [(space, name, found.get("data") or {}) for space, name, found in maps if found is not None]


def listed(kube: Kube, api: str, plural: str) -> list[Object] | None:
    """Return the items of a list; None where the cluster knows no such objects."""
    found = _absent_is_none(kube, api, plural)
    return None if found is None else list(found["items"])


def first(kube: Kube, plural: str, **query: str) -> Object | None:
    """Return the first workload that a question finds."""
    return next(iter(kube.items(_APPS, plural, **query)), None)


def _absent_is_none(kube: Kube, api: str, plural: str, space: str | None = None, name: str | None = None) -> Any:
    try:
        return kube.get(api, plural, space, name)
    except ApiError as error:
        if error.code == 404:
            return None
        raise
