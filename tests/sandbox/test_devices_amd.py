"""AMD's operator: every reason why a GPU is not handed out, and what is published when there is none."""

from typing import Any

import pytest

from sandbox.devices.decide import Published, decide
from sandbox.devices.hardware import DEVICES, EXTENSIONS
from tests.sandbox.device_objects import TOLERATION, changed, without
from tests.sandbox.other_objects import AMD_LABEL, amd_node, amd_operator, amd_view, config, rule

MIXED = {
    "devicePluginTolerations": [TOLERATION],
    "nodeLabellerTolerations": [TOLERATION],
    "devicePluginArguments": {"resource_naming_strategy": "mixed"},
    "nodeLabellerArguments": ["compute-memory-partition", "memory-partitioning-supported"],
}
DRA: dict[str, Any] = {
    "devicePlugin": {"enableDevicePlugin": False},
    "draDriver": {"enable": True, "tolerations": [TOLERATION]},
}


def said(found: Published) -> str:
    return found.annotations[DEVICES]


def test_a_good_machine_publishes_its_gpus() -> None:
    found = decide(amd_view(), amd_node())
    assert (said(found), found.resources) == ("8 GPUs published", {"amd.com/gpu": "8"})
    expected = {
        AMD_LABEL: "true",
        "amd.com/gpu.product-name": "AMD_Instinct_MI300X_OAM",
        "amd.com/gpu.device-id": "74a1",
        "amd.com/gpu.vram": "192G",
        "amd.com/gpu.cu-count": "304",
        "amd.com/gpu.simd-count": "1216",
    }
    assert expected.items() <= found.labels.items()
    assert found.ready is None


WATCHING = without(amd_operator(), "spec.template.spec.containers")


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"rules": ()}, "no DeviceConfig selects the node: they select feature.node.kubernetes.io/amd-gpu=true"),
        ({"rules": (rule(device="74a5"),)}, "NodeFeatureRules gave none for AMD"),
        ({"device_configs": ()}, "no DeviceConfig of AMD's operator"),
        ({"amd_operator": None}, "no controller manager of AMD's operator"),
        ({"amd_operator": changed(amd_operator(), "status", {})}, "Deployment amd is not available"),
        ({"amd_operator": changed(amd_operator(), "metadata.namespace", "x")}, "is not the operator's"),
        ({"amd_operator": WATCHING}, "kmm.watch is true"),
    ],
)
def test_a_cluster_object_is_missing_or_wrong(spoilt: dict[str, Any], reason: str) -> None:
    found = decide(amd_view(**spoilt), amd_node())
    assert reason in said(found)
    assert not found.resources


EXPORTER = {"enable": True, "prometheus": {"serviceMonitor": {"enable": True}}}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"driver": {"enable": True}}, "no container may load kernel modules on Talos"),
        ({"driver": {}}, "driver.enable is true"),
        ({"draDriver": {"enable": True}}, "cannot both be enabled"),
        ({"devicePlugin": {"devicePluginArguments": {"resource_naming_strategy": "both"}}}, "strategy=both"),
        ({"devicePlugin": {"devicePluginArguments": {"pulse": "3"}}}, "devicePluginArguments pulse=3"),
        ({"metricsExporter": EXPORTER}, "nobody defines ServiceMonitors"),
        ({"metricsExporter": {"enable": True, "config": {"name": "x"}}}, "names x, which is not there"),
        ({"devicePlugin": {}}, "devicePluginTolerations of the DeviceConfig do not tolerate"),
        ({"devicePlugin": {"enableDevicePlugin": False}}, "are false"),
        ({**DRA, "draDriver": {"enable": True}}, "draDriver.tolerations of the DeviceConfig do not tolerate"),
    ],
)
def test_the_device_config_does_not_work(spec: dict[str, Any], reason: str) -> None:
    found = decide(amd_view(device_configs=(config(**spec),)), amd_node())
    assert reason in said(found)
    assert not found.resources
    assert not found.slices


def test_the_machine_lacks_what_talos_needs() -> None:
    bare = amd_node()
    bare["metadata"]["annotations"][EXTENSIONS] = "[]"
    assert "no extension siderolabs/amdgpu" in said(decide(amd_view(), bare))
    unprivileged = amd_view()
    unprivileged.namespaces["kube-amd-gpu"] = {}
    assert "kube-amd-gpu lacks" in said(decide(unprivileged, amd_node()))


def test_the_older_device_config_keeps_the_node() -> None:
    first = changed(config(), "metadata.creationTimestamp", "2026-01-01T00:00:00Z")
    later = changed(config(devicePlugin={}), "metadata.creationTimestamp", "2026-02-01T00:00:00Z")
    found = decide(amd_view(device_configs=(later, first)), amd_node())
    assert found.resources == {"amd.com/gpu": "8"}


def test_operands_outlive_their_operator() -> None:
    running = changed(amd_node(), "status.allocatable", {"amd.com/gpu": "8"})
    assert decide(amd_view(amd_operator=None), running).resources == {"amd.com/gpu": "8"}


@pytest.mark.parametrize(
    ("profile", "plugin", "resources"),
    [
        ("cpx", {}, {"amd.com/gpu": "64"}),
        ("cpx", MIXED, {"amd.com/cpx_nps4": "64"}),
        ("", MIXED, {"amd.com/spx_nps1": "8"}),
        ("rest", MIXED, {"amd.com/cpx_nps1": "16", "amd.com/spx_nps1": "6"}),
        ("rest", {}, {}),
    ],
)
def test_partitions_are_handed_out_as_the_strategy_says(
    profile: str, plugin: dict[str, Any], resources: dict[str, str]
) -> None:
    wanted = config(devicePlugin={"devicePluginTolerations": [TOLERATION], **plugin})
    found = decide(amd_view(device_configs=(wanted,)), amd_node(profile, "ubuntu"))
    assert found.resources == resources
    assert found.labels.get("dcm.amd.com/gpu-config-profile-state") == ("success" if profile else None)
    assert resources or "resource_naming_strategy mixed" in said(found)


def test_the_node_labeller_tells_of_partitions_when_asked() -> None:
    found = decide(amd_view(device_configs=(config(devicePlugin=MIXED),)), amd_node("cpx", "ubuntu"))
    assert found.labels["amd.com/gpu.compute-memory-partition"] == "cpx_nps4"
    assert found.labels["amd.com/gpu.memory-partitioning-supported"] == "true"
    assert found.labels["amd.com/gpu.vram"] == "24G"
    assert "amd.com/gpu.compute-partitioning-supported" not in found.labels


@pytest.mark.parametrize(
    ("spec", "system", "reason"),
    [
        ({}, "talos", "mounts /run/systemd, which Talos does not have"),
        ({"configManager": {}}, "ubuntu", "configManager.enable is false"),
        ({"configManager": {"enable": True}}, "ubuntu", "configManagerTolerations do not tolerate"),
        ({"configManager": {"enable": True, "selector": {"a": "b"}}}, "ubuntu", "configManager.selector is a=b"),
        (
            {"configManager": {"enable": True, "configManagerTolerations": [TOLERATION]}},
            "ubuntu",
            "ConfigMap default-dcm-config, which is not there",
        ),
    ],
)
def test_nobody_applies_a_profile(spec: dict[str, Any], system: str, reason: str) -> None:
    found = decide(amd_view(device_configs=(config(**spec),)), amd_node("cpx", system))
    assert reason in said(found)
    assert found.resources == {"amd.com/gpu": "8"}
    assert "dcm.amd.com/gpu-config-profile-state" not in found.labels


def test_the_dra_driver_publishes_a_slice() -> None:
    found = decide(amd_view(device_configs=(config(**DRA),)), amd_node())
    assert not found.resources
    (one,) = found.slices
    spec = one["spec"]
    assert (spec["driver"], spec["nodeName"], len(spec["devices"])) == ("gpu.amd.com", "gpu-01", 8)
    device = spec["devices"][0]
    assert device["attributes"]["type"] == {"string": "amdgpu"}
    assert device["attributes"]["deviceID"] == {"string": "74a1"}
    assert device["attributes"]["partitionProfile"] == {"string": "spx_nps1"}
    assert device["capacity"]["computeUnits"] == {"value": "304"}


def test_the_dra_driver_tells_of_partitions() -> None:
    found = decide(amd_view(device_configs=(config(**DRA),)), amd_node("cpx", "ubuntu"))
    devices = found.slices[0]["spec"]["devices"]
    assert len({one["name"] for one in devices}) == 64
    assert devices[63]["attributes"]["type"] == {"string": "amdgpu-partition"}
    assert devices[63]["attributes"]["parentPciAddr"] == {"string": "0000:75:00.0"}
    assert devices[63]["capacity"]["memory"] == {"value": "24574Mi"}
