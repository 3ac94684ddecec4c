"""Objects as the API server would hand them to the simulator, good in every respect until a test spoils one."""

import json
from typing import Any

from sandbox.devices.hardware import COUNT, EXTENSIONS, MODEL, MODULES, RELEASE, SYSTEM
from sandbox.devices.placement import ENFORCE
from sandbox.devices.view import View

Object = dict[str, Any]
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
TOLERATION = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
IMAGE = (
    "siderolabs/nvidia-open-gpu-kernel-modules-production",
    "siderolabs/nvidia-container-toolkit-production",
    "siderolabs/nvidia-fabricmanager-production",
)
# Marks the nodes that the DRA driver's plugin selects, unless a test says otherwise.
CLAIMS = {"somebody/claims": "yes"}
WORKER_CONFIG = """
sources:
  pci:
    deviceClassWhitelist: ["02", "0302", "12"]
    deviceLabelFields: [vendor]
"""


def node(
    model: str = "h100-sxm-80gb",
    extensions: tuple[str, ...] = IMAGE,
    modules: tuple[str, ...] = ("nvidia", "nvidia_uvm"),
    release: str = "v1.13.9",
    system: str = "talos",
    more: dict[str, str] | None = None,
) -> Object:
    notes = {MODEL: model, COUNT: "8", SYSTEM: system, RELEASE: release}
    notes |= {EXTENSIONS: json.dumps(extensions), MODULES: json.dumps(modules), **(more or {})}
    return {
        "metadata": {"name": "gpu-01", "uid": "u1", "labels": {}, "annotations": notes},
        "spec": {"taints": [GPU_TAINT]},
        "status": {"nodeInfo": {"kernelVersion": "6.18.24-talos"}, "allocatable": {"cpu": "128"}},
    }


def worker() -> Object:
    items = [{"key": "nfd-worker.conf", "path": "nfd-worker.conf"}]
    volumes = [
        {"name": "host-sys", "hostPath": {"path": "/sys"}},
        {"name": "nfd-worker-conf", "configMap": {"name": "node-feature-discovery-worker-conf", "items": items}},
    ]
    pod: Object = {"tolerations": [TOLERATION], "nodeSelector": {}, "volumes": volumes}
    return {"metadata": {"name": "nfd-worker", "namespace": "nfd"}, "spec": {"template": {"spec": pod}}}


def operator() -> Object:
    return {"metadata": {"name": "gpu-operator", "namespace": "gpu-operator"}, "status": {"availableReplicas": 1}}


def policy() -> Object:
    no_symlinks = {"name": "DISABLE_DEV_CHAR_SYMLINK_CREATION", "value": "true"}
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "cluster-policy", "uid": "p1"},
        "spec": {
            "driver": {"enabled": False},
            "toolkit": {"enabled": False},
            "hostPaths": {"driverInstallDir": "/usr/local"},
            "validator": {"driver": {"env": [no_symlinks]}},
            "daemonsets": {"tolerations": [TOLERATION]},
            "migManager": {"enabled": False},
        },
    }


def dra_plugin(
    root: str = "/usr/local",
    containers: tuple[str, ...] = ("compute-domains", "gpus"),
    selector: dict[str, str] | None = None,
) -> Object:
    known = ("feature.node.kubernetes.io/pci-10de.present", "nvidia.com/gpu.present")
    terms = [{"matchExpressions": [{"key": key, "operator": "In", "values": ["true"]}]} for key in known]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod: Object = {
        "containers": [{"name": name} for name in containers],
        "nodeSelector": CLAIMS if selector is None else selector,
        "affinity": {"nodeAffinity": required},
        "tolerations": [TOLERATION],
        "volumes": [{"name": "driver-root", "hostPath": {"path": root}}],
    }
    return {"metadata": {"name": "p", "namespace": "dra"}, "spec": {"template": {"spec": pod}}}


def view(**spoilt: Any) -> View:
    good: Object = {
        "namespaces": {"nfd": {ENFORCE: "privileged"}, "gpu-operator": {ENFORCE: "privileged"}},
        "worker": worker(),
        "worker_config": WORKER_CONFIG,
        "operator": operator(),
        "policies": (policy(),),
    }
    return View(**{**good, **spoilt})


def without(found: Object, path: str) -> Object:
    """Return a copy without the value at a dotted path."""
    return changed(found, path, None)


def changed(found: Object, path: str, value: Any) -> Object:
    """Return a copy with another value at a dotted path; None takes it out."""
    copy: Object = json.loads(json.dumps(found))
    *parents, last = path.split(".")
    place = copy
    for key in parents:
        place = place[key]
    if value is None:
        place.pop(last, None)
    else:
        place[last] = value
    return copy
