"""What a machine becomes by its installer and patch, and every way in which it does not boot."""

import json

import pytest

from sandbox.devices.decide import decide
from sandbox.devices.hardware import DEVICES, EXTENSIONS, FAILURE, MODULES, RELEASE
from sandbox.devices.installation import Image, Installed, install, parse
from sandbox.devices.machine_config import read
from tests.sandbox.device_objects import IMAGE, changed, node, view

SCHEMATIC = "a" * 64
INSTALLER = f"factory.local:8080/metal-installer/{SCHEMATIC}:v1.13.9"
LEGACY = f"""
machine:
  install: {{image: "{INSTALLER}"}}
  kernel:
    modules: [{{name: nvidia}}, {{name: nvidia_uvm, parameters: [a=1]}}]
  nodeLabels: {{gpu-platform/pool: h100}}
  kubelet:
    extraConfig:
      registerWithTaints: [{{key: nvidia.com/gpu, value: "true", effect: NoSchedule}}]
"""
DOCUMENTS = f"""
machine:
  install: {{image: "{INSTALLER.replace("v1.13.9", "v1.14.1")}"}}
---
apiVersion: v1alpha1
kind: KernelModuleConfig
name: nvidia
---
apiVersion: v1alpha1
kind: KernelModuleConfig
name: nvidia_uvm
"""
WHOLLY_DOCUMENTS = """
apiVersion: v1alpha1
kind: KubeNodeConfig
labels: {gpu-platform/pool: h100}
---
apiVersion: v1alpha1
kind: KubeletConfig
config: {registerWithTaints: [{key: a, effect: NoSchedule}]}
---
apiVersion: v1alpha1
kind: KernelModuleConfig
name: nvidia
"""


def booted(patch: str = LEGACY, image: Image | None = None, model: str = "h100-sxm-80gb") -> Installed:
    image = image or Image(SCHEMATIC, "v1.13.9", IMAGE, {IMAGE[0]: "595.91.07-v1.13.9"})
    bare = node(model, extensions=(), modules=(), release="")
    return install(bare, image, INSTALLER, patch, {"gpu-platform/rack": "r1"})


def test_an_installer_names_schematic_and_release() -> None:
    assert parse(INSTALLER) == (SCHEMATIC, "v1.13.9")
    assert parse(f"h/metal-installer-secureboot/{SCHEMATIC}:v1.14.0-rc.1") == (SCHEMATIC, "v1.14.0-rc.1")
    assert parse(f"h/installer/{SCHEMATIC}:v1.13.9") is None
    assert parse("h/metal-installer/abc:v1.13.9") is None
    assert parse(f"h/metal-installer/{SCHEMATIC}:1.13.9") is None


def test_a_machine_carries_what_its_image_and_patch_say() -> None:
    found = booted()
    assert found.labels == {"gpu-platform/rack": "r1", "gpu-platform/pool": "h100"}
    assert found.taints == ({"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"},)
    assert found.annotations[RELEASE] == "v1.13.9"
    assert found.annotations["extensions.talos.dev/schematic"] == SCHEMATIC
    assert found.annotations["extensions.talos.dev/nvidia-open-gpu-kernel-modules-production"] == "595.91.07-v1.13.9"
    assert json.loads(found.annotations[EXTENSIONS]) == list(IMAGE)
    assert json.loads(found.annotations[MODULES]) == ["nvidia", "nvidia_uvm"]


def test_a_booted_machine_gets_its_devices() -> None:
    bare = node(extensions=(), modules=(), release="")
    assert decide(view(), bare).annotations[DEVICES] == "the machine has not booted"
    notes = bare["metadata"]["annotations"] | booted().annotations
    assert decide(view(), changed(bare, "metadata.annotations", notes)).annotations[DEVICES] == "8 GPUs published"


def test_documents_of_their_own_are_read_from_the_release_that_has_them() -> None:
    assert read(DOCUMENTS, "v1.14.1").modules == ("nvidia", "nvidia_uvm")
    assert read(DOCUMENTS, "v1.14.1").refused is None
    assert "unknown kind KernelModuleConfig" in (read(DOCUMENTS, "v1.13.9").refused or "")


def test_labels_and_taints_are_read_in_either_place_and_never_in_both() -> None:
    found = read(WHOLLY_DOCUMENTS, "v1.14.1")
    assert found.refused is None
    assert found.labels == {"gpu-platform/pool": "h100"}
    assert [one["key"] for one in found.taints] == ["a"]
    twice = read(WHOLLY_DOCUMENTS + "---\nmachine: {nodeLabels: {a: b}}\n", "v1.14.1")
    assert "KubeNodeConfig and machine.nodeLabels are both set" in (twice.refused or "")


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        ("a: [b", "not YAML"),
        ("- a", "a document is no mapping"),
        (LEGACY.replace("machine:", "machin:", 1), "unknown key machin"),
        (LEGACY.replace("nodeLabels", "nodeLabel"), "unknown key machine.nodeLabel"),
        (LEGACY.replace("modules:", "module:"), "unknown key machine.kernel.module"),
        (LEGACY.replace("extraConfig", "extraConfiguration"), "unknown key machine.kubelet.extraConfiguration"),
        (LEGACY.replace("gpu-platform/pool", "node-role.kubernetes.io/gpu"), "let a kubelet set label node-role"),
        (LEGACY.replace("v1.13.9", "v1.13.8"), "its outputs say"),
        (LEGACY.replace("{name: nvidia}", "{name: nvidia_drm}"), "loads no module nvidia"),
    ],
)
def test_a_patch_keeps_the_machine_from_booting(patch: str, reason: str) -> None:
    found = booted(patch)
    assert reason in found.annotations[FAILURE]
    assert (found.labels, found.taints, len(found.annotations)) == ({}, (), 1)


@pytest.mark.parametrize(
    ("patch", "reason"),
    [
        (DOCUMENTS.replace("v1alpha1", "v1", 1), "is of apiVersion v1alpha1"),
        (DOCUMENTS.replace("name: nvidia\n", "module: nvidia\n", 1), "unknown key KernelModuleConfig.module"),
        (DOCUMENTS.replace("name: nvidia\n", "", 1), "KernelModuleConfig.name is missing"),
        (DOCUMENTS.replace("KernelModuleConfig", "KernelModulesConfig", 1), "unknown kind KernelModulesConfig"),
    ],
)
def test_a_document_is_refused(patch: str, reason: str) -> None:
    assert reason in (read(patch, "v1.14.1").refused or "")


def test_a_schematic_that_the_factory_lost_boots_nothing() -> None:
    found = booted(image=Image(SCHEMATIC, "v1.13.9", failure="the Image Factory answers 404"))
    assert found.annotations == {FAILURE: "the machine does not boot: the Image Factory answers 404"}


@pytest.mark.parametrize("model", ["", "mi300x-192gb"])
def test_a_driver_without_a_card_waits_for_ever(model: str) -> None:
    assert "it has no NVIDIA card" in booted(model=model).annotations[FAILURE]


def test_modules_come_only_with_their_extension() -> None:
    found = booted(image=Image(SCHEMATIC, "v1.13.9", ("siderolabs/amdgpu",)), model="mi300x-192gb")
    assert json.loads(found.annotations[MODULES]) == []
