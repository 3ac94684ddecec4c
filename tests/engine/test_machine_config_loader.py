"""Talos's own loader takes every patch that we plan, and reads in it what we meant, for every minor that we know."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gpu_platform.planning import plan
from gpu_platform.settings.base import minor
from tests.engine import oracles
from tests.stack_files import FIXTURES, PROJECT, document, planned_file, pool

if TYPE_CHECKING:
    from gpu_platform.planning.model import ImageClass

pytestmark = pytest.mark.engine

# The newest point release of each minor that the facts know.
DOCUMENTS = ("KernelModuleConfig", "CRICustomizationConfig", "KubeNodeConfig", "KubeletConfig")
RELEASES = {"1.11": "v1.11.6", "1.12": "v1.12.11", "1.13": "v1.13.9", "1.14": "v1.14.0"}
TAINTS = [{"key": "a", "effect": "NoExecute"}, {"key": "b", "value": "c"}]
TUNED = {"sysctls": {"vm.nr_hugepages": "64"}, "modules": {"nvme_tcp": ["a=1", "b=2"]}}
POOLS: dict[str, dict[str, Any]] = {
    "plain": {"gpu": None},
    "labels and taints": {"labels": {"example.com/a": "b"}, "taints": TAINTS},
    "nvidia": {},
    "nvidia, proprietary": {"gpu": {"model": "l40s-48gb"}, "image": {"kernelModules": "proprietary"}},
    "b200": {"gpu": {"model": "b200-sxm-180gb"}},
    "arm64": {"gpu": {"model": "gh200-96gb"}},
    "amd": {"gpu": {"model": "mi300x-192gb"}, "image": {"kernelArgs": ["amd_iommu=off"]}},
    "rdma": {"image": {"rdma": ["mlx5"], "kernelArgs": ["iommu=pt"]}},
    "secure boot": {"image": {"secureBoot": {}}},
    "sysctls and modules": {"gpu": None, "image": TUNED},
    "default runtime": {"image": {"defaultRuntime": "nvidia"}},
}


def classes(minor_: str) -> list[ImageClass]:
    """Return the class of every pool at this minor, and those of all stack files of the project that have it."""
    found: list[ImageClass] = []
    for keys in POOLS.values():
        cluster = {"name": "lab", "talosVersion": RELEASES[minor_], "phase": "image"}
        # Talos's module for 1.14 that can be built is its last alpha, which has none of the documents yet.
        image = {"machineConfig": "legacy"}
        result = plan(document(cluster=cluster, inventory=pool(**keys), image=image))
        found += result.plan.image.classes if result.plan else ()
    for path in (*PROJECT.glob("Pulumi.*.yaml"), *FIXTURES.glob("valid/*.yaml"), *FIXTURES.glob("warning/*.yaml")):
        result = planned_file(path)
        classes_ = result.plan.image.classes if result.plan else ()
        found += [one for one in classes_ if minor(one.talos_version) == minor(f"{minor_}.0") and not one.documents]
    return found


@cache
def judged(minor_: str) -> list[tuple[ImageClass, dict[str, Any]]]:
    """Return every class with what Talos makes of its patch."""
    those = classes(minor_)
    return list(zip(those, oracles.machine_configs(minor_, [one.patch for one in those]), strict=True))


@pytest.mark.parametrize("minor_", oracles.TALOS_MINORS)
def test_every_patch_is_loaded_applied_and_valid(minor_: str) -> None:
    assert len(judged(minor_)) >= len(POOLS) - 2  # some pools need a younger release
    for one, answer in judged(minor_):
        assert "error" not in answer, (one.name, one.patch, answer)


@pytest.mark.parametrize("minor_", oracles.TALOS_MINORS)
def test_what_talos_reads_is_what_the_plan_says(minor_: str) -> None:
    for one, answer in judged(minor_):
        documents = list(yaml.safe_load_all(answer["config"]))
        machine = next(each["machine"] for each in documents if "kind" not in each)
        assert machine["install"]["image"] == one.boot.installer
        assert machine["nodeLabels"]["gpu-platform/pool"] == one.pool
        loaded = {" ".join([each["name"], *each["parameters"]]) for each in answer["modules"]}
        assert loaded == set(one.modules)
        params = next(
            (each["params"] for each in documents if each.get("kind") == "SysctlConfig"), machine.get("sysctls", {})
        )
        assert set(one.sysctls) <= {f"{key}={value}" for key, value in params.items()}
        if one.kernel_args and minor_ != "1.11":
            assert machine["install"]["grubUseUKICmdline"] is True


@pytest.mark.parametrize("minor_", oracles.TALOS_MINORS)
def test_the_loader_is_strict(minor_: str) -> None:
    patches = ["machine:\n  kernl: {}\n", "apiVersion: v1alpha1\nkind: NoSuchConfig\n", "machine:\n  sysctls: [a]\n"]
    assert all(answer["error"].startswith("load: ") for answer in oracles.machine_configs(minor_, patches))


def test_documents_of_1_14_are_unknown_before_it() -> None:
    patches = [f"apiVersion: v1alpha1\nkind: {kind}\nname: a\n" for kind in DOCUMENTS]
    for minor_ in ("1.11", "1.12", "1.13"):
        assert all("error" in answer for answer in oracles.machine_configs(minor_, patches))
