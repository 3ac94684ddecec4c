"""Addresses by block and by range, pools that nodes share, and pools that overlap."""

from typing import Any

import pytest

from sandbox.devices.addresses import Ledger
from sandbox.devices.attachments import judge
from sandbox.devices.fabric import PRESENT
from tests.sandbox.attachment_objects import daemon_set, definition, here, keyed, nv_ipam, pod, pool, scene, told
from tests.sandbox.device_objects import Object, changed

WHEREABOUTS = daemon_set("w", "ghcr.io/k8snetworkplumbingwg/whereabouts:v0.9.4", space="kube-system")
PLAIN: Object = {"resource": "", "type": "macvlan", "master": "enp26s0f0np0"}


def asked(*pods: Object, ipam: Object | None = None, **spoilt: Any) -> list[Any]:
    """Return the address of every pod, or the sentence why it has none."""
    seen = scene(definition(**PLAIN, ipam=ipam or nv_ipam("rail-0")), daemon_sets=(WHEREABOUTS,), **spoilt)
    return [one if isinstance(one, str) else one[0]["ips"] for one in told(seen, *pods)]


def ip_pool(**spec: Any) -> dict[str, Object]:
    return {"ip_pools": keyed(pool(**spec))}


def cidr_pool(**spec: Any) -> dict[str, Object]:
    stated = {"metadata": pool()["metadata"], "spec": {"cidr": "192.168.0.0/24", "perNodeNetworkPrefix": 30, **spec}}
    return {"cidr_pools": keyed(stated), "ipam": nv_ipam("rail-0", "cidrpool")}


def there(at: str = "n1", *ips: str) -> Object:
    status = [{"name": "train/rail-0", "interface": "net1", "ips": list(ips), "dns": {}}]
    return pod(name="-".join(ips), at=at, told=status)


def on(*nodes: str) -> list[Object]:
    return [pod(name=f"p{number}", at=one) for number, one in enumerate(nodes)]


def test_nodes_get_blocks_in_the_order_of_first_need() -> None:
    assert asked(*on("n2", "n1", "n2"), **ip_pool()) == [["192.168.0.1"], ["192.168.0.5"], ["192.168.0.2"]]
    assert asked(there("n2", "192.168.0.1"), *on("n2"), **ip_pool()) == [["192.168.0.2"]]


def test_blocks_are_noted_and_kept() -> None:
    has = {"nodeName": "n3", "startIP": "192.168.0.1", "endIP": "192.168.0.4"}
    gone, odd = (
        {**has, "nodeName": "gone", "startIP": "192.168.0.5", "endIP": "192.168.0.8"},
        {**has, "endIP": "192.168.0.9"},
    )
    one = {**pool(), "status": {"allocations": [has, gone]}}
    seen = scene(definition(**PLAIN, ipam=nv_ipam("rail-0")), ip_pools=keyed(one))
    _, ledger = judge(seen, on("n1"), lambda _: here())
    mine = {"nodeName": "n1", "startIP": "192.168.0.5", "endIP": "192.168.0.8"}
    assert ledger.allocations == {("ippools", "net/rail-0"): [has, mine]}
    assert ledger.changed == {("ippools", "net/rail-0")}
    other = {**pool(), "status": {"allocations": [odd]}}
    assert asked(*on("n1"), ip_pools=keyed(other)) == [["192.168.0.1"]]


def test_gateway_and_exclusions_are_nobodys() -> None:
    excluded = [{"startIP": "192.168.0.2", "endIP": "192.168.0.3"}]
    found = asked(*on("n1", "n1"), **ip_pool(gateway="192.168.0.1", exclusions=excluded))
    assert found == [["192.168.0.4"], "the block of ippool net/rail-0 for node n1 is full"]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"subnet": "192.168.0.0/30"}, "has no room for a block of 4"),
        ({"subnet": "192.168.0.1/24"}, "has host bits set"),
        ({"subnet": "192.168.0.0/29"}, "ippool rail-0 has no block left for node n2"),
    ],
)
def test_a_pool_may_be_too_small(spec: Object, reason: str) -> None:
    assert reason in asked(*on("n1", "n2"), **ip_pool(**spec))[1]


def test_a_pool_is_in_the_operators_namespace_and_chooses_nodes() -> None:
    assert "there is no ippool net/rail-0" in asked(*on("n1"))[0]
    assert "nv-ipam knows no poolType x" in asked(*on("n1"), ipam=nv_ipam("rail-0", "x"))[0]
    terms = [{"matchExpressions": [{"key": PRESENT, "operator": "DoesNotExist"}]}]
    unchosen = asked(*on("n1"), **ip_pool(nodeSelector={"nodeSelectorTerms": terms}))
    assert "nodeSelector of ippool net/rail-0 does not choose node n1" in unchosen[0]


def test_prefixes_are_static_or_the_next() -> None:
    static = [{"nodeName": "n2", "prefix": "192.168.0.8/30", "gateway": "192.168.0.9"}, {"prefix": "192.168.0.0/30"}]
    found = asked(*on("n1", "n2", "n3"), **cidr_pool(staticAllocations=static))
    assert found == [["192.168.0.5"], ["192.168.0.10"], ["192.168.0.13"]]


def test_both_addresses_of_a_link_are_usable() -> None:
    links = cidr_pool(perNodeNetworkPrefix=31)
    assert asked(*on("n1", "n1"), **links) == [["192.168.0.0"], ["192.168.0.1"]]
    gated = cidr_pool(perNodeNetworkPrefix=31, gatewayIndex=0)
    assert asked(*on("n1", "n1"), **gated) == [
        ["192.168.0.1"],
        "the block of cidrpool net/rail-0 for node n1 is full",
    ]


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"perNodeNetworkPrefix": 20}, "has no prefixes of length 20"),
        ({"cidr": "192.168.0.0/30"}, "has no prefix left for node n2"),
        ({"staticAllocations": [{"nodeName": "n2", "prefix": "10.0.0.0/30"}]}, "10.0.0.0/30 is no prefix of length 30"),
        ({"staticAllocations": [{"nodeName": "n2", "prefix": "x"}]}, "x is no prefix of length 30"),
    ],
)
def test_a_cidr_pool_may_be_wrong(spec: Object, reason: str) -> None:
    assert reason in asked(*on("n1", "n2"), **cidr_pool(**spec))[1]


@pytest.mark.parametrize(
    ("stated", "first"),
    [
        ({"range": "10.0.0.0/24"}, ["10.0.0.1", "10.0.0.2"]),
        ({"range": "10.0.0.5-10.0.0.9/24"}, ["10.0.0.5", "10.0.0.6"]),
        ({"range": "10.0.0.0/24", "range_start": "10.0.0.7"}, ["10.0.0.7", "10.0.0.8"]),
        ({"range": "10.0.0.0/24", "exclude": ["10.0.0.0/29"]}, ["10.0.0.8", "10.0.0.9"]),
        ({"ipRanges": [{"range": "fd00::/64"}]}, ["fd00::1", "fd00::2"]),
    ],
)
def test_whereabouts_gives_the_next_of_its_range_to_all(stated: Object, first: list[str]) -> None:
    assert asked(*on("n1", "n2"), ipam={"type": "whereabouts", **stated}) == [[one] for one in first]


def test_whereabouts_may_be_without_a_range_or_full() -> None:
    assert "whereabouts has no range" in asked(*on("n1"), ipam={"type": "whereabouts"})[0]
    assert "is no range that whereabouts reads" in asked(*on("n1"), ipam={"type": "whereabouts", "range": "x"})[0]
    tiny = {"type": "whereabouts", "range": "10.0.0.0/30"}
    assert asked(there("n2", "10.0.0.1"), *on("n1", "n1"), ipam=tiny)[1].endswith("range 10.0.0.0/30 is full")


def test_pools_that_overlap_are_seen() -> None:
    seen = scene(
        definition(**PLAIN, ipam=nv_ipam("rail-0")),
        definition("rail-1", **PLAIN, ipam=nv_ipam("rail-1")),
        ip_pools=keyed(pool(), pool("rail-1")),
    )
    (found,) = told(seen, pod("rail-0,rail-1"))
    assert found == (
        "192.168.0.1 of nv-ipam ippool rail-1 is held by a pod under nv-ipam ippool rail-0: the two overlap"
    )


def test_addresses_may_be_written_down() -> None:
    assert asked(*on("n1"), ipam={"type": "static", "addresses": [{"address": "10.9.0.1/24"}]}) == [["10.9.0.1"]]


def test_the_former_holders_of_a_definition_that_went_still_hold() -> None:
    old = changed(there("n1", "192.168.0.1"), "metadata.name", "old")
    stays = changed(old, "metadata.annotations", old["metadata"]["annotations"])
    text = stays["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"].replace("rail-0", "gone")
    stays["metadata"]["annotations"]["k8s.v1.cni.cncf.io/network-status"] = text
    assert "is held by a pod under the former train/gone" in asked(stays, *on("n1"), **ip_pool())[0]
    assert Ledger().held == {}
