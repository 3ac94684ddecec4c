"""Virtual functions, claims, whereabouts, and what others bring: what each adds, and what it leaves out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gpu_platform import facts
from gpu_platform.outputs import outputs_of
from gpu_platform.planning import plan
from gpu_platform.planning.fabric.groups import groups
from gpu_platform.settings.document import load
from gpu_platform.settings.read import read
from tests.planning.test_fabric import CLUSTER, RAILS, bodies, planned
from tests.stack_files import FIXTURES, document, good

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings

NICS = {"profile": "xe9680-8rail-cx7"}
UFM = {"secret": "ufm", "guidStart": "02:00:00:00:00:00:00:00", "guidEnd": "02:00:00:00:00:00:ff:ff"}


def claims(**pool: Any) -> dict[str, Any]:
    """Return the document of a stack whose rails are claimed."""
    stated = {"gpu": {"model": "h100-sxm-80gb"}, "nics": NICS, "nodes": ["n1"], **pool}
    cluster = {**CLUSTER, "talosVersion": "v1.14.0"}
    return document(cluster=cluster, inventory={"pools": {"train": stated}}, fabric={"mode": "dra"})


@pytest.mark.parametrize(("talos", "place"), [("v1.13.9", "machine"), ("v1.14.0", "SysfsConfig")])
def test_machines_make_the_functions_of_rails_and_of_nothing_else(talos: str, place: str) -> None:
    pool = {"nics": NICS, "nodes": ["n1"]}
    fabric = {"mode": "sriov-static", "rails": RAILS, "vfs": 4, "ufm": UFM}
    keys = document(cluster={**CLUSTER, "talosVersion": talos}, inventory={"pools": {"train": pool}}, fabric=fabric)
    found = good(keys)
    documents = list(yaml.safe_load_all(found.image.classes[0].patch))
    if place == "machine":
        written = documents[0]["machine"]["sysfs"]
    else:
        written = next(one for one in documents if one["kind"] == place)["params"]
    assert found.fabric is not None
    ports = [one.pci for one in found.fabric.pools[0].rails]
    assert written == {f"bus/pci/devices/{pci}/sriov_numvfs": "4" for pci in ports}


def test_functions_are_chosen_by_their_port_and_moved_by_a_plugin_that_is_installed() -> None:
    found = planned("sriov-static", pkey="0x8006")
    (policy,) = bodies(found, "NicClusterPolicy")
    entries = json.loads(policy["spec"]["sriovDevicePlugin"]["config"])["resourceList"]
    assert [one["selectors"]["rootDevices"] for one in entries][:1] == [["0000:1a:00.0"]]
    assert all("pciAddresses" not in one["selectors"] for one in entries)
    assert policy["spec"]["ibKubernetes"]["ufmSecret"] == "ufm"
    (daemon,) = bodies(found, "DaemonSet")
    image = daemon["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == "nvcr.io/nvidia/mellanox/ib-sriov-cni:network-operator-v26.4.1"
    config = json.loads(bodies(found, "NetworkAttachmentDefinition")[0]["spec"]["config"])
    assert (config["type"], config["pkey"], config["ibKubernetesEnabled"]) == ("ib-sriov", "0x8006", True)


def test_a_node_has_as_many_addresses_as_functions() -> None:
    """Else pods beyond the block find a function, and no address."""
    assert {one["spec"]["perNodeBlockSize"] for one in bodies(planned("sriov-static", vfs=16), "IPPool")} == {16}
    assert {one["spec"]["perNodeBlockSize"] for one in bodies(planned("host-device"), "IPPool")} == {4}


def test_the_operator_makes_functions_pool_by_pool_and_has_the_only_device_plugin() -> None:
    """sriov-network-device-plugin#610: two of them restart each other."""
    found = planned("sriov", mtu=9000)
    policies = bodies(found, "SriovNetworkNodePolicy")
    assert [one["spec"]["nicSelector"]["rootDevices"] for one in policies][:2] == [["0000:1a:00.0"], ["0000:3c:00.0"]]
    assert {one["spec"]["mtu"] for one in policies} == {9000}
    assert policies[0]["spec"]["nodeSelector"] == {"gpu-platform/pool": "train"}
    assert "sriovDevicePlugin" not in bodies(found, "NicClusterPolicy")[0]["spec"]
    assert not bodies(found, "DaemonSet")
    values = next(one for one in found.rdma_fabric.releases if one.key == "network-operator").values
    assert values["sriov-network-operator"]["images"] == {"sriovConfigDaemon": "registry.lab/sriov-daemon:v1"}


def test_two_pools_may_number_one_port_differently_where_each_has_its_own_objects() -> None:
    """A device plugin's configuration is one for all nodes; policies of the SR-IOV operator and claims are not."""
    other = {"rails": [{"pci": "0000:3c:00.0"}, {"pci": "0000:1a:00.0"}], "device": "1021", "fabric": "ethernet"}
    pools = {"a": {"nics": {**NICS, "fabric": "ethernet"}, "nodes": ["n1"]}, "b": {"nics": other, "nodes": ["n2"]}}
    rules = {}
    for mode in ("host-device", "sriov"):
        fabric = {"mode": mode, "rails": RAILS, **({"sriovDaemonImage": "lab/daemon:v1"} if mode == "sriov" else {})}
        found = plan(document(cluster=CLUSTER, inventory={"pools": pools}, fabric=fabric)).findings
        rules[mode] = {one.rule for one in found}
    assert "RDMA-005" in rules["host-device"]
    assert "RDMA-005" not in rules["sriov"]


def test_a_pod_claims_every_rail_by_its_port_and_nothing_counts_them() -> None:
    found = good(claims())
    pool = outputs_of(found).fabric.pools["train"]  # type: ignore[union-attr]
    (template,) = bodies(found, "ResourceClaimTemplate")
    requests = template["spec"]["spec"]["devices"]["requests"]
    expressions = [one["exactly"]["selectors"][0]["cel"]["expression"] for one in requests]
    assert [one.split('"')[-2] for one in expressions] == [rail.pci for rail in pool.rails]
    assert pool.limits == {"nvidia.com/gpu": "8"}
    assert pool.claim_template == template["metadata"]["name"]
    claim = pool.patch["spec"]["resourceClaims"]
    assert claim == [{"name": "devices", "resourceClaimTemplateName": pool.claim_template}]
    assert pool.patch["spec"]["containers"][0]["resources"]["claims"] == [{"name": "devices"}]
    assert [one.key for one in found.rdma_fabric.releases] == ["dranet"]
    assert not bodies(found, "NicClusterPolicy")


def test_cards_that_are_claimed_are_claimed_together_with_rails() -> None:
    (template,) = bodies(good(claims(allocation="dra")), "ResourceClaimTemplate")
    first, *rails = template["spec"]["spec"]["devices"]["requests"]
    assert first["exactly"] == {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 8}
    assert len(rails) == 8


def test_a_template_is_named_after_what_it_claims() -> None:
    """Templates cannot be changed: another content is another object."""
    nics = {"rails": [{"pci": "0000:1a:00.0", "hca": "mlx5_0"}], "device": "1021"}
    names = {bodies(good(claims(nics=one)), "ResourceClaimTemplate")[0]["metadata"]["name"] for one in (NICS, nics)}
    assert len(names) == 2


def test_whereabouts_has_a_range_for_each_rail() -> None:
    found = good(load(FIXTURES / "valid" / "fabric-with-whereabouts.yaml").keys)
    drawn = [json.loads(one["spec"]["config"])["ipam"] for one in bodies(found, "NetworkAttachmentDefinition")]
    assert drawn[1] == {"type": "whereabouts", "range": "192.168.4.0/22", "network_name": "ib-rdma-rail-1"}
    assert len({one["range"] for one in drawn}) == 8
    assert "nvIpam" not in bodies(found, "NicClusterPolicy")[0]["spec"]
    release = next(one for one in found.rdma_fabric.releases if one.key == "whereabouts")
    assert release.values["image"] == {"tag": "v0.9.4"}


def test_a_multus_of_somebody_else_is_left_alone_and_told_what_it_needs() -> None:
    pool = {"nics": {**NICS, "fabric": "ethernet"}, "nodes": ["n1"]}
    fabric = {"rails": RAILS}
    operators = {"multus": {"manage": "existing"}, "network-operator": {"manage": "existing", "version": "26.4.1"}}
    found = good(document(cluster=CLUSTER, inventory={"pools": {"train": pool}}, fabric=fabric, operators=operators))
    assert set(bodies(found, "NicClusterPolicy")[0]["spec"]["secondaryNetwork"]) == {"cniPlugins"}
    assert found.fabric is not None
    assert "/var/run/netns" in found.fabric.needs["multus"]
    assert [one.key for one in found.rdma_fabric.releases] == []


@pytest.mark.parametrize("profile", sorted(facts.table("nics")))
def test_every_profile_has_rails_that_are_apart_from_its_other_ports(profile: str) -> None:
    row = facts.table("nics")[profile]
    assert not set(row["rails"]) & set(row["north_south"])
    assert len(set(row["rails"])) == len(row["rails"])
    (group,) = groups(settings_of({"profile": profile, "fabric": "ethernet"}))
    assert [one.pci for one in group.ports] == row["rails"]
    assert len({one.interface for one in group.ports}) == len(row["rails"])
    assert all(len(one.interface) <= 15 for one in group.ports)


@pytest.mark.parametrize(
    ("profile", "hcas"),
    [
        # NVIDIA DGX H100/H200 user guide, table of network modules.
        ("dgx-h100", "mlx5_0 mlx5_3 mlx5_4 mlx5_5 mlx5_6 mlx5_9 mlx5_10 mlx5_11"),
        # NVIDIA Mission Control, compute tray network ports.
        ("dgx-gb200", "mlx5_0 mlx5_1 mlx5_4 mlx5_5"),
    ],
)
def test_rdma_devices_are_those_of_the_vendors_table(profile: str, hcas: str) -> None:
    (group,) = groups(settings_of({"profile": profile}))
    assert [one.hca for one in group.ports] == hcas.split()


def test_ports_in_other_domains_of_the_bus_are_named_after_them() -> None:
    """netbox-community/devicetype-library#4508, as seen on running machines."""
    (group,) = groups(settings_of({"profile": "gb300-compute-tray"}))
    assert [one.interface for one in group.ports] == ["ibp3s0", "ibP2p3s0", "ibP16p3s0", "ibP18p3s0"]


def settings_of(nics: dict[str, Any]) -> Settings:
    """Return settings of one pool with these cards."""
    return read(document(cluster=CLUSTER, inventory={"pools": {"train": {"nics": nics, "nodes": ["n1"]}}}))[0]
