"""The fabric as a picture, read back as XML, and as a table."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from gpu_platform.reports import explain_subject, svg
from gpu_platform.reports.fabric_picture import picture
from tests.stack_files import PROJECT, document, good, planned_file, pool

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan

NS = {"s": "http://www.w3.org/2000/svg"}
PORTS = [{"pci": "0000:1a:00.0", "hca": "a<b>&\"c'\u0007"}, {"pci": "0000:3c:00.0"}]
ODD = {"device": "1021", "rails": PORTS}
EIGHT = {"profile": "xe9680-8rail-cx7"}
LIMIT = 500_000


def plan_of(nodes: dict[str, Any], nics: dict[str, Any] | None = None) -> Plan:
    return good(document(inventory=pool(nics=nics or EIGHT, nodes=nodes)))


def drawn(plan: Plan) -> ET.Element:
    return ET.fromstring(picture(plan, explain_subject.fabric(plan)))  # noqa: S314 - our own text


def squares(root: ET.Element) -> list[str]:
    return [str(one.findtext("s:title", namespaces=NS)) for one in root.findall(".//s:g[@class='row']/s:use", NS)]


def texts(root: ET.Element) -> list[str]:
    return [one.text or "" for one in root.iterfind(".//s:text", NS)]


def rows(root: ET.Element) -> list[str]:
    return [str(one.findtext(".//s:text", namespaces=NS)) for one in root.findall(".//s:g[@class='row']", NS)]


def many(count: int, leaves: int) -> dict[str, Any]:
    """Return nodes on leaves in turn, the first of them being planned."""
    return {f"n{at}": {"leaf": f"leaf-{at % leaves}", "state": "active" if at else "planned"} for at in range(count)}


def test_a_square_for_each_rail_of_each_node_says_its_port() -> None:
    found = squares(drawn(plan_of({"n1": {}, "n2": {}})))
    assert len(found) == 2 * 8
    assert found[0] == "n1, rail 0: PCI 0000:1a:00.0, HCA mlx5_0, interface ibp26s0"


def test_networks_and_subnets_are_in_the_legend_and_the_network_in_titles() -> None:
    inventory = pool(nics={**EIGHT, "fabric": "ethernet"}, image={"kernelArgs": ["iommu=pt"]})
    fabric = {"rails": {"supernet": "192.168.0.0/16", "railPrefix": 22}}
    root = drawn(good(document(inventory=inventory, fabric=fabric)))
    assert {"192.168.28.0/22", "ib-rdma-rail-7", "nvidia.com/ib_rdma_rail_7"} <= set(texts(root))
    assert squares(root)[7].endswith(", network ib-rdma-rail-7")
    assert "mode host-device, 255 nodes find addresses on each rail" in texts(root)


def test_names_are_escaped_and_what_xml_cannot_hold_is_replaced() -> None:
    assert "HCA a<b>&\"c'\ufffd," in squares(drawn(plan_of({"n1": {}}, ODD)))[0]


def test_nodes_stand_by_rack_and_number() -> None:
    nodes = {"n10": {"rack": "r2"}, "n9": {"rack": "r2"}, "n1": {}, "n11": {"rack": "r10"}}
    assert rows(drawn(plan_of(nodes))) == ["n9", "n10", "n11", "n1"]


@pytest.mark.parametrize("state", ["planned", "accepting", "quarantined", "retired"])
def test_a_node_that_is_not_active_is_hollow_and_says_why(state: str) -> None:
    root = drawn(plan_of({"n1": {}, "n2": {"state": state, "reason": "broken", "leaf": "l1"}}))
    active, other = root.findall(".//s:g[@class='row']", NS)
    assert {one.get("href", "")[:4] for one in active.findall("s:use", NS)} == {"#rai"}
    assert {one.get("href", "")[:4] for one in other.findall("s:use", NS)} == {"#off"}
    assert state in [one.text for one in other.iterfind(".//s:text", NS)]
    assert root.findall(".//s:path[@class='wire s0 off']", NS)


def test_a_leaf_is_a_box_and_who_has_none_is_told() -> None:
    root = drawn(plan_of({"n1": {"leaf": "l1"}, "n2": {"leaf": "l1"}, "n3": {}}))
    boxes = [one.findtext("s:title", namespaces=NS) for one in root.findall(".//s:g[@class='leaf']", NS)]
    assert boxes == [
        "l1\n2 nodes of h100",
        "leaf not stated: inventory.pools.h100.nodes.<node>.leaf says it\n1 node of h100",
    ]
    assert len(root.findall(".//s:path[@class='wire loose']", NS)) == 1


def test_a_leaf_of_two_pools_names_the_other() -> None:
    one = {"gpu": {"model": "h100-sxm-80gb"}, "nics": EIGHT}
    pools = {"a": {**one, "nodes": {"n1": {"leaf": "l1"}}}, "b": {**one, "nodes": {"n2": {"leaf": "l1"}}}}
    found = texts(drawn(good(document(inventory={"pools": pools}))))
    assert [text for text in found if text.startswith("also")] == ["also b", "also a"]


def test_no_box_lies_over_another() -> None:
    root = drawn(plan_of(many(64, 5)))
    places = [
        (float(one.get("y", "")), float(one.get("height", "")))
        for one in root.findall(".//s:g[@class='leaf']/s:rect", NS)
    ]
    assert len(places) == 5
    assert all(y + height < below for (y, height), (below, _) in itertools.pairwise(sorted(places)))


def test_large_pools_are_folded_by_leaf() -> None:
    assert len(rows(drawn(plan_of(many(64, 2))))) == 64
    root = drawn(plan_of(many(65, 2)))
    assert rows(root) == ["leaf-0", "leaf-1"]
    assert len(squares(root)) == 2 * 8
    assert "33 nodes, 32 active, 1 planned" in texts(root)
    assert "leaf-0: 33 nodes of h100\nn0 planned" in [one.text for one in root.iterfind(".//s:title", NS)]


@pytest.mark.parametrize("pools", [1, 2, 16])
def test_a_thousand_nodes_make_a_small_file(pools: int) -> None:
    each = 1000 // pools
    made = {
        f"p{number}": {
            "gpu": {"model": "h100-sxm-80gb"},
            "nics": EIGHT,
            "nodes": {f"p{number}-{name}": node for name, node in many(each, max(4, 32 // pools)).items()},
        }
        for number in range(pools)
    }
    plan = good(document(inventory={"pools": made}))
    assert len(picture(plan, explain_subject.fabric(plan)).encode()) < LIMIT


def test_the_largest_picture_that_is_not_folded_is_a_small_file_too() -> None:
    made = {
        name: {
            "gpu": {"model": "h100-sxm-80gb"},
            "nics": EIGHT,
            "nodes": {
                f"{name}-{at}.{'a-long-domain.' * 4}example": {"leaf": f"l{at % 4}", "rack": f"r{at}"}
                for at in range(50)
            },
        }
        for name in ("a", "b", "c")
    }
    plan = good(document(inventory={"pools": made}))
    assert len(squares(drawn(plan))) == 150 * 8
    assert len(picture(plan, explain_subject.fabric(plan)).encode()) < LIMIT


def test_long_texts_keep_both_ends() -> None:
    assert svg.short("abcdefghij", 7) == "abc…hij"
    assert svg.short("abcdefg", 7) == "abcdefg"


def test_the_table_has_a_rail_a_line_and_the_nodes_of_each_leaf() -> None:
    plan = plan_of(
        {"n1": {"leaf": "l1"}, "n2": {"leaf": "l1", "state": "planned"}, "n3": {}}, {**ODD, "rails": PORTS[1:]}
    )
    shown = "\n".join(str(one) for one in explain_subject.for_people(plan, "fabric"))
    assert "  0     0000:3c:00.0  ibp60s0    rdma/ib_rdma" in shown
    assert "RDMA device" not in shown
    assert "  l1               n1, n2 (planned)\n  leaf not stated  n3" in shown
    said = explain_subject.as_json(plan, "fabric")
    assert said["pools"]["h100"]["rails"][0]["pci"] == "0000:3c:00.0"
    assert said["pools"]["h100"]["nodes"]["n2"] == {"state": "planned", "rack": None, "leaf": "l1"}


def test_no_fabric_is_one_sentence_with_the_reason() -> None:
    with pytest.raises(explain_subject.UnknownSubjectError, match="no fabric in this stack: off, because no pool says"):
        explain_subject.as_json(good(document()), "fabric")


def test_the_picture_of_production_is_a_golden() -> None:
    plan = planned_file(PROJECT / "Pulumi.prod.yaml").plan
    assert plan is not None
    golden = PROJECT / "tests" / "golden" / "fabric.prod.svg"
    assert picture(plan, explain_subject.fabric(plan)) == golden.read_text(encoding="utf-8")
