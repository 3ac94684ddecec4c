"""Rails from a machine's own list of links, as talosctl prints it."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_platform.planning.fabric.nic_profile import NicProfileError, derive
from tests.stack_files import document, good

ADDRESSES = [{"metadata": {"id": "bond0/10.10.0.11/16"}, "spec": {"linkName": "bond0", "address": "10.10.0.11/16"}}]


def link(pci: str, name: str, type_: str = "infiniband", device: str = "1021", **spec: Any) -> dict[str, Any]:
    """Return a LinkStatus with the fields of siderolabs/talos resources/network."""
    stated = {
        "type": type_,
        "driver": "mlx5_core",
        "busPath": pci,
        "pciID": f"15B3:{device}",
        "linkState": True,
        "kind": "",
        **spec,
    }
    return {"metadata": {"namespace": "network", "type": "LinkStatuses.net.talos.dev", "id": name}, "spec": stated}


def pcis(found: Any) -> list[str]:
    return [one["pci"] for one in found.nics["rails"]]


def test_infiniband_ports_are_rails_and_ethernet_beside_them_is_not() -> None:
    links = [
        link("0000:9c:00.0", "ibp156s0"),
        link("0000:1a:00.0", "ibp26s0", linkState=False),
        link("0000:9d:00.0", "enp157s0f0np0", "ether"),
        {"metadata": {"id": "lo"}, "spec": {"type": "loopback"}},
        link("0000:9d:00.1", "enp157s0f1np1", "ether", masterIndex=9),
        {"metadata": {"id": "eno1"}, "spec": {"type": "ether", "driver": "igb", "busPath": "0000:01:00.0"}},
    ]
    found = derive(links, ADDRESSES)
    assert pcis(found) == ["0000:1a:00.0", "0000:9c:00.0"]
    assert found.nics["northSouth"] == ["0000:9d:00.0", "0000:9d:00.1"]
    assert [one["hca"] for one in found.nics["rails"]] == ["mlx5_0", "mlx5_1"]
    assert (found.nics["fabric"], found.nics["device"]) == ("infiniband", "1021")


def test_ethernet_ports_are_rails_when_they_are_up_and_nobody_uses_them() -> None:
    links = [
        link("0000:1a:00.0", "enp26s0f0np0", "ether"),
        link("0000:3c:00.0", "enp60s0f0np0", "ether", linkState=False),
        link("0000:4d:00.0", "enp77s0f0np0", "ether", slaveKind="bond", masterIndex=4),
        link("0000:5e:00.0", "enp94s0f0np0", "ether"),
        link("0000:1a:00.2", "enp26s0f0v0", "ether", device="101e"),
        link("0000:9c:00.0", "bond0.100", "ether", kind="vlan"),
    ]
    addresses = [{"spec": {"linkName": "enp94s0f0np0"}}]
    found = derive(links, addresses)
    assert pcis(found) == ["0000:1a:00.0"]
    reasons = {one.interface: one.reason for one in found.ports}
    assert reasons == {
        "enp26s0f0np0": "is up, and nobody uses it",
        "enp60s0f0np0": "is down",
        "enp77s0f0np0": "is part of a bond or bridge",
        "enp94s0f0np0": "has an address of the node",
    }


@pytest.mark.parametrize(
    ("links", "why"),
    [
        ([], "no link is a port of driver mlx5_core"),
        ([{"metadata": None, "spec": None}], "no link is a port"),
        ([link("0000:1a:00.0", "a", "ether", linkState=False)], "no port is on a fabric: a is down"),
        ([link("0000:1a:00.0", "a"), link("0000:3c:00.0", "b", device="1023")], "1 of 1021, 1 of 1023"),
    ],
)
def test_what_cannot_be_told_is_said(links: list[dict[str, Any]], why: str) -> None:
    with pytest.raises(NicProfileError, match=why):
        derive(links, [])


def test_what_is_printed_is_what_a_pool_may_write() -> None:
    found = derive([link("0000:1a:00.0", "ibp26s0"), link("0000:9d:00.0", "enp157s0f0np0", "ether")], [])
    pool = {"gpu": {"model": "h100-sxm-80gb", "perNode": 1}, "nics": found.nics, "nodes": ["n1"]}
    plan = good(document(inventory={"pools": {"a": pool}}))
    assert plan.fabric is not None
    assert plan.fabric.pools[0].rails[0].interface == "ibp26s0"
