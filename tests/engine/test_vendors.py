"""Three vendors in one stack: what the plan says that nodes hand out is what the cluster has, for counts and for claims."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import factory, nodes, overlay
from sandbox.devices.boot import boot
from sandbox.devices.hardware import DEVICES
from sandbox.engine import engines
from sandbox.kube import until
from tests.engine.pulumi_stack import Stack
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.kube import Kube
    from sandbox.state import State

pytestmark = pytest.mark.engine

FILE = Path(__file__).with_name("vendors.yaml")
DRA_API = "resource.k8s.io/v1"
VENDORS = ("nvidia.com/", "amd.com/", "habana.ai/")


@pytest.fixture(scope="module")
def machines(kube: Kube) -> Iterator[list[nodes.Hardware]]:
    """The machines of the stack file beside those that are there; gone afterwards."""
    own = nodes.inventory(PROJECT / "Pulumi.sandbox.yaml")
    more = [one for one in nodes.inventory(FILE) if one.pool != "system"]
    kubelet = engines()["kubernetes"].version
    nodes.bring(kube, [*own, *more], kubelet)
    yield more
    nodes.bring(kube, own, kubelet)


@pytest.fixture(scope="module")
def stack(
    make_stack: Callable[..., Stack], machines: list[nodes.Hardware], kube: Kube, sandbox: State
) -> Iterator[Stack]:
    """The stack, up, its machines booted."""
    assert machines
    made = make_stack("vendors")
    made.write(overlay.config(sandbox, FILE)).up().ok()
    boot(kube, made.outputs(), factory.url(sandbox))
    yield made
    # Before the machines go: the patches of nodes are taken back from nodes that are there.
    made.destroy().ok()


def counted(kube: Kube, name: str) -> dict[str, int]:
    """Return the vendors' extended resources of a node."""
    allocatable = kube.get("v1", "nodes", None, name)["status"]["allocatable"]
    return {key: int(count) for key, count in allocatable.items() if key.startswith(VENDORS) and int(count)}


def claimed(kube: Kube, name: str) -> dict[str, int]:
    """Return the devices that drivers tell of on a node, by the class that a claim would name."""
    slices = [one for one in kube.items(DRA_API, "resourceslices") if one["spec"]["nodeName"] == name]
    found: Counter[str] = Counter()
    for one in slices:
        for device in one["spec"]["devices"]:
            cut = device["attributes"].get("type", {}).get("string") == "mig"
            found["mig.nvidia.com" if cut else one["spec"]["driver"]] += 1
    return dict(found)


def sentence(kube: Kube, name: str) -> str:
    return str(kube.get("v1", "nodes", None, name)["metadata"]["annotations"].get(DEVICES, ""))


def as_planned(kube: Kube, stack: Stack) -> None:
    for name, node in stack.outputs()["nodes"].items():
        expected = (node["resources"], node["devices"])
        try:
            until(name, lambda: (counted(kube, name), claimed(kube, name)) == expected, timeout=60)  # noqa: B023
        except Exception as error:
            found = (counted(kube, name), claimed(kube, name))
            raise AssertionError(f"{name}: {found} is not {expected}: {sentence(kube, name)}") from error


def test_every_node_hands_out_what_the_plan_says(stack: Stack, kube: Kube) -> None:
    as_planned(kube, stack)
    handed = {name: node["resources"] | node["devices"] for name, node in stack.outputs()["nodes"].items()}
    assert handed == {
        "v-plain-01": {"nvidia.com/gpu": 8},
        "v-claims-01": {"gpu.nvidia.com": 8},
        "v-claims-02": {"mig.nvidia.com": 24},
        "v-shared-01": {"nvidia.com/gpu": 16},
        "v-shared-02": {"nvidia.com/gpu": 4},
        "v-notebooks-01": {"nvidia.com/mig-1g.10gb.shared": 112},
        "v-amd-01": {"amd.com/gpu": 8},
        "v-amd-02": {"gpu.amd.com": 8},
        "v-amd-03": {"amd.com/gpu": 64},
        "v-amd-04": {"amd.com/gpu": 8},
        "v-gaudi-01": {"habana.ai/gaudi": 8},
    }


def test_nobody_hands_a_card_out_twice(stack: Stack, kube: Kube) -> None:
    for name in stack.outputs()["nodes"]:
        assert "handed out twice" not in sentence(kube, name)


def test_every_class_that_the_outputs_name_is_in_the_cluster(stack: Stack, kube: Kube) -> None:
    named = {one for node in stack.outputs()["nodes"].values() for one in node["devices"]}
    there = {one["metadata"]["name"] for one in kube.items(DRA_API, "deviceclasses")}
    assert named == {"gpu.nvidia.com", "mig.nvidia.com", "gpu.amd.com"}
    assert named <= there


def test_a_second_up_changes_nothing(stack: Stack) -> None:
    assert set(stack.up().ok().changes) == {"unchanged"}


def test_a_way_of_sharing_that_is_added_relabels_nobody(stack: Stack, kube: Kube) -> None:
    config = stack.config()
    gpu = config["gpu-platform:gpu"]
    more = {**gpu["sharing"], "dev-8": {"mode": "timeSlicing", "replicas": 8}}
    stack.write({**config, "gpu-platform:gpu": {**gpu, "sharing": more}})
    try:
        text = stack.preview("--diff").ok().text
        assert "NodePatch" not in text
        stack.up().ok()
        as_planned(kube, stack)
    finally:
        stack.write(config).up().ok()


def test_a_pool_moves_from_counts_to_claims_and_back(stack: Stack, kube: Kube) -> None:
    config = stack.config()
    before: dict[str, Any] = config["gpu-platform:inventory"]["pools"]
    claims = {**before["v-plain"], "allocation": "dra"}
    stack.write({**config, "gpu-platform:inventory": {"pools": {**before, "v-plain": claims}}})
    stack.up().ok()
    as_planned(kube, stack)
    assert claimed(kube, "v-plain-01") == {"gpu.nvidia.com": 8}
    stack.write(config).up().ok()
    as_planned(kube, stack)
    assert counted(kube, "v-plain-01") == {"nvidia.com/gpu": 8}


def test_partitions_are_changed_by_a_label(stack: Stack, kube: Kube) -> None:
    config = stack.config()
    before: dict[str, Any] = config["gpu-platform:inventory"]["pools"]
    parts = {**before["v-amd-parts"], "partition": {"compute": "DPX", "memory": "NPS2"}}
    stack.write({**config, "gpu-platform:inventory": {"pools": {**before, "v-amd-parts": parts}}})
    stack.up().ok()
    as_planned(kube, stack)
    assert counted(kube, "v-amd-03") == {"amd.com/gpu": 16}
    stack.write(config).up().ok()
    as_planned(kube, stack)
