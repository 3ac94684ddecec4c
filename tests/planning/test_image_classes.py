"""Classes of nodes: what an image holds for each kind of hardware, and what its machines are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gpu_platform.planning import plan
from tests.stack_files import document, good, pool

if TYPE_CHECKING:
    from gpu_platform.planning.model import ImageClass


def image(talos: str = "v1.13.9", section: dict[str, Any] | None = None, **keys: Any) -> ImageClass:
    """Return the one class of a pool."""
    cluster = {"name": "lab", "talosVersion": talos, "phase": "image"}
    return good(document(cluster=cluster, inventory=pool(**keys), image=section or {})).image.classes[0]


def names(one: ImageClass) -> list[str]:
    return [each.name.removeprefix("siderolabs/") for each in one.extensions]


def modules(one: ImageClass) -> dict[str, list[str]]:
    """Return the kernel modules that either form of the patch loads."""
    found: dict[str, list[str]] = {}
    for each in yaml.safe_load_all(one.patch):
        for module in each.get("machine", {}).get("kernel", {}).get("modules", []):
            found[module["name"]] = module.get("parameters", [])
        if each.get("kind") == "KernelModuleConfig":
            found[each["name"]] = each.get("parameters", [])
    return found


def test_amd_nodes_get_driver_and_microcode_and_load_nothing_by_name() -> None:
    one = image(gpu={"model": "mi300x-192gb"})
    assert names(one) == ["amd-ucode", "amdgpu"]
    assert one.schematic_id == "9c1d1b442d73f96dcd04e81463eb20000ab014062d22e1b083e1773336bc1dd5"
    assert modules(one) == {}
    assert one.driver_branch is None


def test_plain_nodes_get_the_empty_schematic() -> None:
    one = image(gpu=None)
    assert one.schematic_id == "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"
    assert modules(one) == {}


@pytest.mark.parametrize("talos", ["v1.13.9", "v1.14.0"])
def test_rdma_nodes_load_verbs_and_gdrcopy_with_its_parameters(talos: str) -> None:
    one = image(talos, image={"rdma": ["mlx5"], "kernelArgs": ["iommu=pt"]})
    assert "nvidia-gdrdrv-device" in names(one)
    loaded = modules(one)
    assert {"mlx5_ib", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm", "nvidia", "nvidia_uvm"} <= set(loaded)
    assert loaded["gdrdrv"] == ["dbg_enabled=0", "info_enabled=0", "use_persistent_mapping=1"]


def test_the_sysctl_of_the_old_toolkit_goes_with_cdi() -> None:
    settings = {
        talos: next(yaml.safe_load_all(image(talos).patch))["machine"].get("sysctls", {})
        for talos in ("v1.12.11", "v1.13.9")
    }
    assert settings == {"v1.12.11": {"net.core.bpf_jit_harden": "1"}, "v1.13.9": {}}


def test_a_secure_boot_class_installs_and_boots_signed_images() -> None:
    one = image(image={"secureBoot": {"enrollKeys": "force"}})
    assert one.boot.installer == one.boot.installer_secure_boot
    assert "/metal-installer-secureboot/" in one.boot.installer
    assert next(yaml.safe_load_all(one.patch))["machine"]["install"]["image"] == one.boot.installer
    base = f"https://factory.talos.dev/image/{one.schematic_id}/v1.13.9"
    assert one.boot.iso == f"{base}/metal-amd64-secureboot.iso"
    assert one.boot.disk == f"{base}/metal-amd64-secureboot.raw.zst"
    assert one.boot.uki == f"{base}/metal-amd64-secureboot-uki.efi"
    assert one.boot.cmdline == f"{base}/cmdline-metal-amd64-secureboot"
    assert one.boot.pxe == f"https://pxe.factory.talos.dev/pxe/{one.schematic_id}/v1.13.9/metal-amd64-secureboot"


def test_a_factory_of_ones_own_serves_pxe_itself_or_where_it_says() -> None:
    own = {"factory": {"url": "https://factory.example.com:8443/"}}
    named = {"factory": {"url": "https://factory.example.com", "pxeUrl": "https://boot.example.com"}}
    assert image(section=own).boot.pxe.startswith("https://factory.example.com:8443/pxe/")
    assert image(section=own).boot.installer.startswith("factory.example.com:8443/metal-installer/")
    assert image(section=named).boot.pxe.startswith("https://boot.example.com/pxe/")


def test_lists_add_up_and_what_a_pool_says_replaces_what_the_section_says() -> None:
    section = {
        "driverTrack": "production",
        "kernelArgs": ["a=1"],
        "meta": [{"key": 10, "value": "all"}, {"key": 11, "value": "all"}],
        "modules": {"nvme_tcp": ["x=1"]},
        "bootloader": "grub",
        "diskSectorSize": 512,
    }
    own = {
        "driverTrack": "lts",
        "kernelArgs": ["b=2"],
        "meta": [{"key": 10, "value": "own"}],
        "modules": {"nvme_tcp": ["x=2"]},
        "bootloader": "auto",
        "diskSectorSize": 4096,
        "extensions": ["siderolabs/iscsi-tools"],
    }
    one = image(section=section, image=own)
    custom = yaml.safe_load(one.schematic)["customization"]
    assert one.driver_branch == "lts"
    assert custom["extraKernelArgs"] == ["a=1", "b=2"]
    assert custom["meta"] == [{"key": 11, "value": "all"}, {"key": 10, "value": "own"}]
    assert custom["diskImage"] == {"sectorSize": 4096}
    assert "bootloader" not in custom
    assert modules(one)["nvme_tcp"] == ["x=2"]


def test_arguments_that_mean_two_things_stay_twice() -> None:
    twice = ["hugepagesz=1G", "hugepages=4", "hugepagesz=2M", "hugepages=4"]
    assert image(image={"kernelArgs": twice}).kernel_args == tuple(twice)


def test_the_order_of_an_id_that_exists_can_be_kept() -> None:
    toolkit, open_modules = (
        f"siderolabs/nvidia-{one}-production" for one in ("container-toolkit", "open-gpu-kernel-modules")
    )
    keys: dict[str, Any] = {"gpu": {"model": "l40s-48gb"}}
    as_written = {"extensionOrder": "asWritten"}
    first = image(**keys, image={**as_written, "extensions": [open_modules, toolkit]})
    second = image(**keys, image={**as_written, "extensions": [toolkit, open_modules]})
    assert first.schematic_id == "1deaeeb1ea2e7901c21c109368a7261f52dfd9a91e9d7eea83cfd0f0e1b7d488"
    assert second.schematic_id == "6698d6f136c5bb37ca8bb8482c9084305084da0a5ead1f4dcae760796f8ab3a2"
    assert image(**keys).schematic_id == second.schematic_id


def test_versions_come_with_the_image_that_holds_them() -> None:
    refs = {each.name: each.ref for each in image().extensions}
    assert refs == {
        f"siderolabs/{name}-production": f"ghcr.io/siderolabs/{name}-production:{tag}"
        for name, tag in {
            "nvidia-container-toolkit": "595.91.07-v1.19.1",
            "nvidia-fabricmanager": "595.91.07",
            "nvidia-open-gpu-kernel-modules": "595.91.07-v1.13.9",
        }.items()
    }


def test_what_is_wrong_with_two_classes_of_a_pool_is_said_once() -> None:
    nodes = {"gpu-01": {}, "gpu-02": {"talosVersion": "v1.13.8"}}
    keys = document(inventory=pool(nodes=nodes, image={"kernelArgs": ["off"]}))
    assert [one.rule for one in plan(keys).findings] == ["IMG-005"]
