"""What a preview shows when the fabric grows: what belongs to the newcomer, and nothing else."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import overlay
from tests.engine.test_fabric import FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

PORTS = ("0000:1a:00.0", "0000:3c:00.0", "0000:4d:00.0")
IP_POOL, CIDR_POOL = "nv-ipam.nvidia.com/v1alpha1:IPPool", "nv-ipam.nvidia.com/v1alpha1:CIDRPool"
NETWORK = "k8s.cni.cncf.io/v1:NetworkAttachmentDefinition"
POLICY = "mellanox.com/v1alpha1:NicClusterPolicy"
IMAGE = "dynamic/gpu-platform:Schematic"


def nics(*ports: str) -> dict[str, Any]:
    """Return cards with rails of one's own."""
    rails = [{"pci": pci, "hca": f"mlx5_{index}"} for index, pci in enumerate(ports)]
    return {"device": "1021", "fabric": "ethernet", "rails": rails}


def pool(*ports: str, nodes: dict[str, Any]) -> dict[str, Any]:
    """Return a pool of small machines, all of one image."""
    card = {"model": "h100-sxm-80gb", "perNode": 2}
    return {"gpu": card, "image": {"kernelArgs": ["iommu=pt"]}, "nics": nics(*ports), "nodes": nodes}


BASE = {"train": pool(*PORTS[:2], nodes={"c-01": {"slot": 0, "state": "planned"}})}


@pytest.fixture(scope="module", params=["dynamic", "static"])
def stack(request: pytest.FixtureRequest, make_stack: Callable[[str], Stack], sandbox: State) -> Iterator[Stack]:
    made = make_stack(f"fabric-{request.param}")
    made.write(configured(sandbox, BASE, request.param)).up().ok()
    yield made
    made.destroy().ok()


def configured(sandbox: State, pools: dict[str, Any], addresses: str) -> dict[str, Any]:
    """Return the configuration of a stack with these pools."""
    found = copy.deepcopy(overlay.config(sandbox, FILE))
    found["gpu-platform:inventory"] = {"pools": pools}
    found["gpu-platform:fabric"] |= {"mode": "host-device", "addresses": addresses}
    return found


def shown(stack: Stack, sandbox: State, pools: dict[str, Any]) -> list[str]:
    """Return what a preview with other pools touches."""
    addresses = stack.config()["gpu-platform:fabric"]["addresses"]
    before = stack.config()
    try:
        return stack.write(configured(sandbox, pools, addresses)).preview("--diff").ok().touched
    finally:
        stack.write(before)


def kind(stack: Stack) -> str:
    return CIDR_POOL if stack.config()["gpu-platform:fabric"]["addresses"] == "static" else IP_POOL


def test_nothing_changes_by_itself(stack: Stack, sandbox: State) -> None:
    assert shown(stack, sandbox, BASE) == []
    assert set(stack.up().ok().changes) == {"unchanged"}


def test_a_node_shows_its_own_addresses_where_they_are_stated_and_nothing_elsewhere(
    stack: Stack, sandbox: State
) -> None:
    nodes = {**BASE["train"]["nodes"], "c-02": {"slot": 1, "state": "planned"}}
    more = {"train": {**BASE["train"], "nodes": nodes}}
    assert shown(stack, sandbox, more) == ([f"~ {CIDR_POOL}"] * 2 if kind(stack) == CIDR_POOL else [])


def test_a_rail_shows_its_addresses_its_network_and_the_policy(stack: Stack, sandbox: State) -> None:
    more = {"train": {**BASE["train"], "nics": nics(*PORTS)}}
    assert shown(stack, sandbox, more) == sorted([f"+ {kind(stack)}", f"+ {NETWORK}", f"~ {POLICY}"])


def test_a_pool_of_the_same_machines_shows_its_image(stack: Stack, sandbox: State) -> None:
    """Device plugins and networks go by the static label of the fabric, which its machines bring with them."""
    other = pool(*PORTS[:2], nodes={"d-01": {"slot": 7, "state": "accepting"}})
    found = [one for one in shown(stack, sandbox, {**BASE, "more": other}) if IMAGE not in one]
    assert found == ([f"~ {CIDR_POOL}"] * 2 if kind(stack) == CIDR_POOL else [])


def test_a_pool_of_other_machines_shows_the_policy_that_learns_its_ports(stack: Stack, sandbox: State) -> None:
    other = pool("0000:19:00.0", "0000:2a:00.0", nodes={"d-01": {"slot": 7, "state": "planned"}})
    found = [one for one in shown(stack, sandbox, {**BASE, "more": other}) if IMAGE not in one]
    assert found == sorted([f"~ {POLICY}", *([f"~ {CIDR_POOL}"] * 2 if kind(stack) == CIDR_POOL else [])])
