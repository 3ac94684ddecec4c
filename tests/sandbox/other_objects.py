"""Objects of AMD's and Intel's operators, good in every respect until a test spoils one."""

import json
from dataclasses import replace
from typing import Any

from sandbox.devices.hardware import COUNT
from sandbox.devices.others import Others
from sandbox.devices.placement import ENFORCE
from sandbox.devices.view import View
from tests.sandbox.device_objects import TOLERATION, Object, changed, node, view

AMD_LABEL = "feature.node.kubernetes.io/amd-gpu"
PROFILES: Object = {
    "gpu-config-profiles": {
        "cpx": {"profiles": [{"computePartition": "CPX", "memoryPartition": "NPS4", "numGPUsAssigned": 8}]},
        "rest": {
            "profiles": [
                {"computePartition": "CPX", "memoryPartition": "NPS1", "numGPUsAssigned": 2},
                {"computePartition": "SPX", "memoryPartition": "NPS1"},
            ]
        },
        "skip": {
            "skippedGPUs": {"ids": [0]},
            "profiles": [{"computePartition": "DPX", "memoryPartition": "NPS1", "numGPUsAssigned": 7}],
        },
    }
}


def rule(label: str = AMD_LABEL, vendor: str = "1002", device: str = "74a1") -> Object:
    expressions = {"vendor": {"op": "In", "value": [vendor]}, "device": {"op": "In", "value": [device]}}
    term = {"feature": "pci.device", "matchExpressions": expressions}
    return {"spec": {"rules": [{"name": "r", "labels": {label: "true"}, "matchAny": [{"matchFeatures": [term]}]}]}}


def amd_operator() -> Object:
    env = [{"name": "KMM_WATCH_ENABLED", "value": "false"}]
    return {
        "metadata": {"name": "amd", "namespace": "kube-amd-gpu"},
        "spec": {"template": {"spec": {"containers": [{"env": env}]}}},
        "status": {"availableReplicas": 1},
    }


def config(**spec: Any) -> Object:
    good: Object = {
        "selector": {AMD_LABEL: "true"},
        "driver": {"enable": False},
        "devicePlugin": {"devicePluginTolerations": [TOLERATION], "nodeLabellerTolerations": [TOLERATION]},
        "configManager": {
            "enable": True,
            "config": {"name": "profiles"},
            "configManagerTolerations": [TOLERATION],
        },
        "draDriver": {"tolerations": [TOLERATION]},
    }
    return {"metadata": {"name": "default", "namespace": "kube-amd-gpu"}, "spec": {**good, **spec}}


def others(**spoilt: Any) -> Others:
    good: Object = {
        "rules": (rule(),),
        "amd_operator": amd_operator(),
        "device_configs": (config(),),
        "libraries": {"kube-amd-gpu/profiles": {"config.json": json.dumps(PROFILES)}},
    }
    return Others(**{**good, **spoilt})


def amd_view(**spoilt: Any) -> View:
    spaces = {name: {ENFORCE: "privileged"} for name in ("nfd", "kube-amd-gpu")}
    return replace(view(namespaces=spaces), others=others(**spoilt))


def amd_node(profile: str = "", system: str = "talos", **more: Any) -> Object:
    found = node(
        "mi300x-192gb", extensions=("siderolabs/amdgpu",), modules=(), system=system, more={COUNT: "8"}, **more
    )
    return changed(found, "metadata.labels", {"dcm.amd.com/gpu-config-profile": profile} if profile else {})
