"""Addresses on the rails: apart, enough, and never another one because somebody comes or goes."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stack_files import document, good

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan

CLUSTER = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.35.6"}


def rails(count: int) -> list[dict[str, str]]:
    return [{"pci": f"0000:{16 + number:02x}:00.0", "hca": f"mlx5_{number}"} for number in range(count)]


def planned(nodes: dict[str, Any], count: int = 4, **fabric: Any) -> Plan:
    nics = {"fabric": "ethernet", "device": "1021", "rails": rails(count)}
    pool = {"gpu": {"model": "h100-sxm-80gb", "perNode": min(count, 8)}, "nics": nics, "nodes": nodes}
    section = {"rails": {"supernet": "192.168.0.0/16", "railPrefix": 22}, **fabric}
    return good(document(cluster=CLUSTER, inventory={"pools": {"a": pool}}, fabric=section))


def blocks(plan: Plan) -> dict[tuple[str, str], str]:
    """Return the static block of each node on each rail."""
    pools = [one.body for one in plan.rdma_fabric.manifests if one.body["kind"] == "CIDRPool"]
    return {
        (one["nodeName"], body["metadata"]["name"]): one["prefix"]
        for body in pools
        for one in body["spec"]["staticAllocations"]
    }


def subnets(plan: Plan) -> list[str]:
    assert plan.fabric is not None
    return [str(rail.subnet) for rail in plan.fabric.pools[0].rails]


SLOTS = st.dictionaries(
    st.from_regex(r"n[0-9]{1,3}", fullmatch=True), st.integers(0, 200), min_size=1, max_size=12
).filter(lambda found: len(set(found.values())) == len(found))


@settings(max_examples=60, deadline=None)
@given(slots=SLOTS, size=st.integers(1, 4), count=st.integers(1, 8))
def test_blocks_are_apart_within_their_rail_and_large_enough(slots: dict[str, int], size: int, count: int) -> None:
    plan = planned({name: {"slot": slot} for name, slot in slots.items()}, count, addresses="static", blockSize=size)
    nets = [ipaddress.ip_network(one) for one in subnets(plan)]
    assert not any(one.overlaps(other) for index, one in enumerate(nets) for other in nets[:index])
    found = {key: ipaddress.ip_network(text) for key, text in blocks(plan).items()}
    assert len(found) == len(slots) * count
    values = list(found.values())
    assert not any(one.overlaps(other) for index, one in enumerate(values) for other in values[:index])
    for one in values:
        (home,) = [net for net in nets if one.subnet_of(net)]  # type: ignore[arg-type]
        assert home.network_address not in one
        assert home.broadcast_address not in one
        assert one.num_addresses >= size


@settings(max_examples=60, deadline=None)
@given(slots=SLOTS, data=st.data())
def test_who_comes_or_goes_changes_nobody_elses_addresses(slots: dict[str, int], data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(sorted(slots)))
    order = data.draw(st.permutations(sorted(slots)))
    before = blocks(planned({name: {"slot": slots[name]} for name in slots}, addresses="static"))
    rest = {name: {"slot": slots[name]} for name in order if name != gone} or {"other": {"slot": 201}}
    after = blocks(planned(rest, addresses="static"))
    assert {key: text for key, text in before.items() if key[0] != gone} == {
        key: text for key, text in after.items() if key[0] != "other"
    }


@settings(max_examples=30, deadline=None)
@given(few=st.integers(2, 8), more=st.integers(0, 8))
def test_a_rail_that_is_added_renumbers_no_other(few: int, more: int) -> None:
    one, other = (subnets(planned({"n1": {}}, count)) for count in (few, few + more))
    assert other[:few] == one


def test_a_node_that_is_added_touches_no_object_with_dynamic_addresses() -> None:
    assert planned({"n1": {}}).rdma_fabric == planned({"n1": {}, "n2": {}}).rdma_fabric


def test_capacity_is_shown_and_no_node_has_an_address_of_its_own() -> None:
    plan = planned({"n1": {}}, blockSize=16)
    assert plan.fabric is not None
    assert plan.fabric.capacity == 63
    assert {one.body["kind"] for one in plan.rdma_fabric.manifests} >= {"IPPool"}
    assert blocks(plan) == {}
