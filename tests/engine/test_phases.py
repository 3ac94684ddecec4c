"""A new site: images without a cluster, machines by another stack, then the cluster through that stack's kubeconfig."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from sandbox import control_plane
from sandbox.processes import end, restart
from tests.engine.pulumi_stack import Stack
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.state import State

pytestmark = pytest.mark.engine

SITE = "site"


@pytest.fixture(scope="module")
def platform(make_stack: Callable[[str], Stack]) -> Stack:
    return make_stack(SITE)


@pytest.fixture(scope="module")
def machines(sandbox: State, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The example's stack, which stands for the one that owns the machines."""
    directory = tmp_path_factory.mktemp("machines")
    stack = Stack(sandbox, SITE, directory / f"Pulumi.{SITE}.yaml", PROJECT / "examples" / "machines")
    config = {
        "talos-cluster:platform": f"organization/gpu-platform/{SITE}",
        "talos-cluster:kubeconfigFile": str(sandbox.kubeconfig),
    }
    yield stack.write(config).create()
    stack.remove()


@pytest.fixture
def no_api_server(sandbox: State) -> Iterator[None]:
    end(sandbox.processes["kube-apiserver"])
    yield
    for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "devices"):
        sandbox.processes[name] = restart(sandbox.processes[name], sandbox.logs)
        if name == "kube-apiserver":
            control_plane.wait_for_api_server(sandbox)
    sandbox.save()


def test_phase_image_comes_up_without_any_api_server(platform: Stack, no_api_server: None) -> None:
    config = platform.config()
    cluster = {key: value for key, value in config["gpu-platform:cluster"].items() if key != "kubeconfigFrom"}
    platform.write({**config, "gpu-platform:cluster": {**cluster, "phase": "image"}})
    platform.up().ok()
    assert {one["type"] for one in platform.resources() if "kubernetes" in one["type"]} == set()


def test_the_machines_stack_reads_installers_and_patches_and_exports_a_kubeconfig(
    machines: Stack, platform: Stack
) -> None:
    machines.up().ok()
    outputs = machines.outputs()
    exported = platform.outputs()
    assert outputs["gpus"] == 8 * 8 + 3 * 4
    assert outputs["kubeconfig"] == "[secret]"
    assert outputs["machines"]["gpu-a-01"]["installer"] == exported["nodes"]["gpu-a-01"]["installer"]
    machine = next(yaml.safe_load_all(outputs["machines"]["gpu-a-01"]["patch"]))["machine"]
    assert machine["install"]["image"] == outputs["machines"]["gpu-a-01"]["installer"]
    assert "serve-03" not in outputs["machines"]


def test_a_stack_that_does_not_exist_is_a_sentence_and_loses_no_outputs(platform: Stack) -> None:
    config = platform.config()
    source = {"stackReference": "organization/talos-cluster/nowhere"}
    cluster = {**config["gpu-platform:cluster"], "phase": "full", "kubeconfigFrom": source}
    before = platform.outputs()
    platform.write({**config, "gpu-platform:cluster": cluster})
    try:
        done = platform.up().failed()
    finally:
        platform.write(config)
    assert 'unknown stack "organization/talos-cluster/nowhere"' in done.text
    assert platform.outputs() == before


def test_phase_full_reaches_the_cluster_through_that_stack(platform: Stack) -> None:
    config = platform.config()
    source = {"stackReference": f"organization/talos-cluster/{SITE}", "output": "kubeconfig"}
    cluster = {**config["gpu-platform:cluster"], "phase": "full", "kubeconfigFrom": source}
    platform.write({**config, "gpu-platform:cluster": cluster})
    platform.up().ok()
    assert set(platform.outputs()["operators"]) == {"nfd", "gpu-operator"}
    assert set(platform.up().ok().changes) == {"unchanged"}


def test_destroy_in_reverse(platform: Stack, machines: Stack) -> None:
    platform.destroy().ok()
    machines.run("destroy", "--yes", "--skip-preview").ok()  # its program would read outputs that are gone
    assert platform.resources() == machines.resources() == []
