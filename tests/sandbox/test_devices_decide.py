"""Every reason why a GPU is not handed out, one by one, and what is published when there is none."""

from typing import Any

import pytest

from sandbox.devices.decide import decide
from sandbox.devices.hardware import COUNT, DEVICES, FAILURE, NVIDIA, cards
from sandbox.devices.nvidia import RESOURCE
from tests.sandbox.device_objects import IMAGE, changed, node, operator, policy, view, without, worker

OPEN, TOOLKIT, FABRIC = IMAGE
LTS_TOOLKIT = "siderolabs/nvidia-container-toolkit-lts"
PROPRIETARY = "siderolabs/nonfree-kmod-nvidia-production"


def test_a_good_machine_publishes_its_gpus() -> None:
    found = decide(view(), node())
    assert found.annotations == {DEVICES: "8 GPUs published"}
    assert found.resources == {RESOURCE: "8"}
    assert found.ready is True
    expected = {
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "feature.node.kubernetes.io/system-os_release.ID": "talos",
        "feature.node.kubernetes.io/system-os_release.VERSION_ID": "v1.13.9",
        "feature.node.kubernetes.io/kernel-version.full": "6.18.24-talos",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.count": "8",
        "nvidia.com/gpu.memory": "81559",
        "nvidia.com/gpu.family": "hopper",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/gpu.deploy.device-plugin": "true",
    }
    assert expected.items() <= found.labels.items()


NFD = [
    ({"worker": None}, "no NFD worker DaemonSet"),
    ({"namespaces": {"gpu-operator": {}}}, "namespace nfd of the NFD workers lacks"),
    (
        {"worker": changed(worker(), "spec.template.spec.tolerations", [])},
        "does not tolerate taint nvidia.com/gpu=true",
    ),
    ({"worker": changed(worker(), "spec.template.spec.nodeSelector", {"disk": "ssd"})}, "selects nodes with disk=ssd"),
    (
        {"worker": changed(worker(), "spec.template.spec.volumes", [{"hostPath": {"path": "/usr/src"}}])},
        "mounts /usr/src",
    ),
    ({"worker_config": None}, "mounts no configuration that exists"),
    ({"worker_config": "a: [b"}, "not a YAML mapping"),
    ({"worker_config": "core: {noPublish: true}"}, "core.noPublish"),
    ({"worker_config": "core: {labelSources: [system]}"}, "leaves source pci out"),
    ({"worker_config": "core: {labelSources: [all, -pci]}"}, "leaves source pci out"),
    ({"worker_config": "sources: {pci: {deviceClassWhitelist: ['02']}}"}, "looks at PCI classes 02, the cards are"),
]
OPERATOR = [
    (
        {"worker_config": "sources: {pci: {deviceClassWhitelist: ['0302'], deviceLabelFields: [device]}}"},
        "NFD published pci-0000.present",
    ),
    ({"worker_config": "core: {labelSources: [pci]}"}, "needs label feature.node.kubernetes.io/system-os_release.ID"),
    ({"operator": None}, "no Deployment gpu-operator"),
    ({"operator": changed(operator(), "status", {})}, "gpu-operator is not available"),
    (
        {"namespaces": {"nfd": {"pod-security.kubernetes.io/enforce": "privileged"}, "gpu-operator": {}}},
        "namespace gpu-operator lacks pod-security.kubernetes.io/enforce=privileged",
    ),
    ({"policies": ()}, "no ClusterPolicy"),
    ({"policies": (changed(policy(), "metadata.name", "other"),)}, "no ClusterPolicy cluster-policy"),
]


@pytest.mark.parametrize(("spoilt", "reason"), NFD + OPERATOR)
def test_a_cluster_object_is_missing_or_wrong(spoilt: dict[str, Any], reason: str) -> None:
    found = decide(view(**spoilt), node())
    assert reason in found.annotations[DEVICES]
    assert not found.resources
    assert not any(label.startswith("nvidia.com/") for label in found.labels)


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        ("spec.driver.enabled", True, "driver.enabled is true"),
        ("spec.driver", None, "driver.enabled is true"),
        ("spec.toolkit.enabled", True, "toolkit.enabled is true"),
        ("spec.toolkit", None, "toolkit.enabled is true"),
        ("spec.hostPaths.driverInstallDir", "/run/nvidia/driver", "hostPaths.driverInstallDir is /run/nvidia/driver"),
        ("spec.hostPaths", None, "hostPaths.driverInstallDir is /run/nvidia/driver"),
        ("spec.validator.driver.env", [], "DISABLE_DEV_CHAR_SYMLINK_CREATION=true"),
        ("spec.validator", None, "DISABLE_DEV_CHAR_SYMLINK_CREATION=true"),
        ("spec.daemonsets.tolerations", [], "do not tolerate taint nvidia.com/gpu=true:NoSchedule"),
        ("spec.daemonsets", None, "do not tolerate taint"),
    ],
)
def test_the_policy_does_not_fit_talos(path: str, value: Any, reason: str) -> None:
    found = decide(view(policies=(changed(policy(), path, value),)), node())
    assert reason in found.annotations[DEVICES]
    assert (found.resources, found.ready) == ({}, False)


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        (node(release="v1.12.6"), "finds no driver on Talos v1.12.6"),
        (node(release=""), "has not booted"),
        (node(extensions=()), "no NVIDIA kernel modules extension"),
        (node(extensions=(OPEN, PROPRIETARY, TOOLKIT, FABRIC)), "open and proprietary"),
        (node(extensions=(OPEN, FABRIC)), "no nvidia-container-toolkit extension"),
        (
            node(extensions=(OPEN, LTS_TOOLKIT, FABRIC)),
            "mixes nvidia-container-toolkit-lts",
        ),
        (node(modules=("nvidia_uvm",)), "module nvidia is not loaded"),
        (node(modules=("nvidia",)), "module nvidia_uvm is not loaded"),
        (node(extensions=(OPEN, TOOLKIT)), "no nvidia-fabricmanager extension"),
        (node("b200-sxm-180gb", extensions=(PROPRIETARY, TOOLKIT, FABRIC)), "needs open kernel modules"),
        (node("b200-sxm-180gb"), "module ib_umad is not loaded"),
        (node("h101"), "does not know the model h101"),
        (node(more={FAILURE: "the machine does not boot: no such schematic"}), "does not boot"),
    ],
)
def test_the_image_does_not_drive_the_cards(machine: dict[str, Any], reason: str) -> None:
    found = decide(view(), machine)
    assert reason in found.annotations[DEVICES]
    assert not found.resources


def test_the_node_opts_out() -> None:
    away = changed(node(), "metadata.labels", {"nvidia.com/gpu.deploy.operands": "false"})
    found = decide(view(), away)
    assert "opts out" in found.annotations[DEVICES]
    assert (found.resources, found.ready) == ({}, None)
    assert not any(label.startswith("nvidia.com/") for label in found.labels)


@pytest.mark.parametrize(
    ("operand", "label", "stays"),
    [
        ("device-plugin", "nvidia.com/gpu.deploy.device-plugin", False),
        ("gpu-feature-discovery", "nvidia.com/gpu.product", True),
        ("dcgm-exporter", "nvidia.com/gpu.deploy.dcgm-exporter", True),
    ],
)
def test_the_node_opts_out_of_one_operand(operand: str, label: str, stays: bool) -> None:
    away = changed(node(), "metadata.labels", {f"nvidia.com/gpu.deploy.{operand}": "false"})
    found = decide(view(), away)
    assert label not in found.labels
    assert f"nvidia.com/gpu.deploy.{operand}" not in found.labels
    assert (found.resources, found.ready) == ({RESOURCE: "8"} if stays else {}, True)


def test_cards_without_switches_need_no_fabric_manager() -> None:
    assert decide(view(), node("l40s-48gb", extensions=(PROPRIETARY, TOOLKIT))).ready is True


def test_four_sxm_cards_have_no_switch() -> None:
    four = node(extensions=(OPEN, TOOLKIT), more={COUNT: "4"})
    assert decide(view(), four).resources == {RESOURCE: "4"}


@pytest.mark.parametrize(
    ("version", "state"), [("v0.15.0", "pending"), ("v0.12.3-ubuntu20.04", "success"), ("", "pending")]
)
def test_the_mig_manager_hangs_on_talos(version: str, state: str) -> None:
    found = decide(view(policies=(changed(policy(), "spec.migManager", {"version": version}),)), node())
    assert found.labels["nvidia.com/mig.config.state"] == state
    assert "nvidia.com/mig.config.state" not in decide(view(), node()).labels


def test_another_system_gets_its_driver_from_the_operator() -> None:
    ubuntu = node(system="ubuntu", extensions=(), release="24.04")
    found = decide(view(policies=(without(policy(), "spec.driver"),)), ubuntu)
    assert found.resources == {RESOURCE: "8"}


def test_operands_outlive_a_restart_of_their_operator() -> None:
    away = view(operator=changed(operator(), "status", {}))
    running = changed(node(), "status.allocatable", {RESOURCE: "8"})
    assert decide(away, running).resources == {RESOURCE: "8"}
    assert not decide(away, node()).resources
    assert not decide(view(policies=()), running).resources


def test_without_the_device_plugin_only_labels_are_published() -> None:
    found = decide(view(policies=(changed(policy(), "spec.devicePlugin", {"enabled": False}),)), node())
    assert (found.resources, found.ready) == ({}, True)
    assert found.labels["nvidia.com/gpu.count"] == "8"
    assert "nvidia.com/gpu.deploy.device-plugin" not in found.labels


def test_without_feature_discovery_the_product_is_unknown() -> None:
    found = decide(view(policies=(changed(policy(), "spec.gfd", {"enabled": False}),)), node())
    assert found.resources
    assert "nvidia.com/gpu.product" not in found.labels


def test_the_label_names_class_and_vendor_in_the_workers_order() -> None:
    config = "sources: {pci: {deviceClassWhitelist: ['03'], deviceLabelFields: [vendor, class]}}"
    found = decide(view(worker_config=config), node())
    assert found.labels["feature.node.kubernetes.io/pci-0302_10de.present"] == "true"
    assert found.resources


def test_a_node_without_cards_is_only_discovered() -> None:
    plain = changed(node(), "metadata.annotations", {"sandbox.gpu-platform/os": "talos"})
    found = decide(view(), plain)
    assert found.labels["feature.node.kubernetes.io/system-os_release.ID"] == "talos"
    assert (found.annotations, found.resources, found.ready) == ({}, {}, None)


def test_every_model_says_where_its_row_comes_from() -> None:
    assert all(card.source and card.product and card.memory for card in cards().values())


def test_every_card_of_nvidia_has_a_compute_capability() -> None:
    assert all(bool(card.compute) == (card.pci["vendor"] == NVIDIA) for card in cards().values())
