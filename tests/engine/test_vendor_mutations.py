"""A plan for three vendors that is wrong by one word is found by the simulator, which says which word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox.kube import until
from tests.engine.test_mutations import project, spoil
from tests.engine.vendor_stack import as_planned, sentence
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.kube import Kube
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

PLANNING = "gpu_platform/planning"
# Where, the right words, the wrong ones, a node, and what the simulator then says of it.
MUTATIONS = {
    "driver root of the DRA driver": (
        f"{PLANNING}/operators/dra.py",
        '"nvidiaDriverRoot":',
        '"nvidiaDriverRot":',
        "v-claims-01",
        "nvidiaDriverRoot of the DRA driver is /",
    ),
    "label that takes the device plugin away": (
        f"{PLANNING}/allocation.py",
        "nvidia.com/gpu.deploy.device-plugin",
        "nvidia.com/gpu.deploy.deviceplugin",
        "v-claims-01",
        "handed out twice",
    ),
    "replicas of a shared card": (
        f"{PLANNING}/sharing/configs.py",
        '"replicas": count',
        '"replica": count',
        "v-shared-01",
        "the device plugin does not start: number of replicas",
    ),
    "label of a way of sharing": (
        f"{PLANNING}/sharing/configs.py",
        'REQUEST = "nvidia.com/device-plugin.config"',
        'REQUEST = "nvidia.com/device-plugin-config"',
        "v-shared-01",
        "4 GPUs published",
    ),
    "selector of a DeviceConfig": (
        f"{PLANNING}/operators/amd.py",
        "feature.node.kubernetes.io/amd-gpu",
        "feature.node.kubernetes.io/amdgpu",
        "v-amd-01",
        "DeviceConfig",
    ),
    "cards of a partition profile": (
        f"{PLANNING}/partitions.py",
        '"numGPUsAssigned": count',
        '"numGPUsAssigned": count + 1',
        "v-amd-03",
        "numGPUsAssigned",
    ),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_one_wrong_word_is_found(name: str, vendors: Stack, tmp_path: Path, kube: Kube) -> None:
    file, right, wrong, node, says = MUTATIONS[name]
    vendors.project = project(tmp_path)
    spoil(tmp_path / file, right, wrong)
    try:
        vendors.up().ok()
        until(f"{says} of {node}", lambda: says in sentence(kube, node), timeout=20)
    finally:
        vendors.project = PROJECT
        vendors.up().ok()


def test_the_unspoilt_program_mends_everything(vendors: Stack, kube: Kube) -> None:
    as_planned(kube, vendors)
