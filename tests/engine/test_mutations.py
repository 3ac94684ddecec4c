"""A plan that is wrong by one word publishes no GPUs, and the simulator says which word."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from sandbox import factory
from sandbox.devices.boot import boot
from sandbox.kube import until
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

OPERATORS = "gpu_platform/planning/operators"
OPERATOR = f"{OPERATORS}/nvidia.py"
MACHINE = "gpu_platform/facts/machine.toml"
EXTENSIONS = "gpu_platform/planning/image/extensions.py"

# Where, the right words, the wrong ones, and what the simulator then says of a node.
MUTATIONS = {
    "misspelt value path": (OPERATOR, '{"driverInstallDir":', '{"driverInstalDir":', "driverInstallDir"),
    "driver left on": (OPERATOR, '"driver": {"enabled": False}', '"driver": {"enable": False}', "driver.enabled"),
    "wrong label": (
        f"{OPERATORS}/releases.py",
        "pod-security.kubernetes.io/{mode}",
        "pod-security.k8s.io/{mode}",
        "privileged",
    ),
    "wrong field": (
        f"{OPERATORS}/nfd.py",
        '"deviceLabelFields": ["vendor"]',
        '"deviceLabelFields": ["device"]',
        "pci-",
    ),
    "missing module": (MACHINE, 'modules = ["nvidia", ', "modules = [", "module"),
    "wrong extension": (
        EXTENSIONS,
        '"siderolabs/nvidia-fabricmanager-"',
        '"siderolabs/nvidia-gdrdrv-device-"',
        "fabric",
    ),
}


def project(tmp: Path) -> Path:
    """Return a copy of the program that a test may spoil."""
    for name in ("gpu_platform", "components", "sandbox"):
        shutil.copytree(PROJECT / name, tmp / name, ignore=shutil.ignore_patterns("__pycache__", "engines"))
    for name in ("__main__.py", "Pulumi.yaml"):
        shutil.copy(PROJECT / name, tmp / name)
    (tmp / ".venv").symlink_to(sys.prefix)  # Pulumi.yaml names it
    return tmp


def spoil(path: Path, right: str, wrong: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(right) == 1, f"{path.name} does not hold {right!r} once"
    path.write_text(text.replace(right, wrong), encoding="utf-8")


def reasons(kube: Kube) -> list[str]:
    """Return what the simulator says of each node of the training pool that hands out no GPU."""
    return [
        node["metadata"]["annotations"].get("sandbox.gpu-platform/devices", "")
        for node in kube.items("v1", "nodes")
        if node["metadata"]["annotations"].get("sandbox.gpu-platform/pool") == "h100-train"
        and not int(node["status"]["allocatable"].get("nvidia.com/gpu", 0))
    ]


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack]) -> Stack:
    return make_stack("mutant")


@pytest.mark.parametrize("name", MUTATIONS)
def test_one_wrong_word_is_found_by_the_simulator(
    name: str, stack: Stack, tmp_path: Path, kube: Kube, sandbox: State
) -> None:
    file, right, wrong, says = MUTATIONS[name]
    stack.project = project(tmp_path)
    spoil(tmp_path / file, right, wrong)
    # The factory would refuse the misspelt extension while planning: here it is the machines that find it.
    if name == "wrong extension":
        assert "has no extension" in stack.preview().failed().text
        return
    try:
        stack.up().ok()
        boot(kube, stack.outputs(), factory.url(sandbox))
        until(name, lambda: len(found := reasons(kube)) == 8 and all(says in one for one in found), timeout=20)
    finally:
        stack.destroy().ok()


def test_the_unspoilt_copy_publishes_every_gpu(stack: Stack, tmp_path: Path, kube: Kube, sandbox: State) -> None:
    stack.project = project(tmp_path)
    try:
        stack.up().ok()
        boot(kube, stack.outputs(), factory.url(sandbox))
        until("GPUs", lambda: not reasons(kube), timeout=20)
    finally:
        stack.destroy().ok()
