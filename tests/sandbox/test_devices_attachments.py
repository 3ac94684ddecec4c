"""What pods get of the networks that they ask for, and every reason why they get none."""

import json
from typing import Any

import pytest

from sandbox.devices.attachments import asks
from sandbox.devices.fabric import Fabric
from tests.sandbox.attachment_objects import (
    FIRST,
    NETWORK,
    SECOND,
    daemon_set,
    definition,
    here,
    pod,
    policy,
    scene,
    told,
)
from tests.sandbox.device_objects import Object, changed
from tests.sandbox.test_devices_fabric import IMAGE, OPERATOR

RAIL_1 = definition("rail-1", resource="nvidia.com/rail_1")


def device(pci: str) -> Object:
    return {"type": "pci", "version": "1.1.0", "pci": {"pci-address": pci}}


def test_a_pod_gets_a_device_for_each_network() -> None:
    (found,) = told(scene(definition(), RAIL_1), pod("rail-0,train/rail-1@ib1", rail_0=1, rail_1=1))
    assert found == [
        {"name": "train/rail-0", "interface": "net1", "ips": [], "dns": {}, "device-info": device(FIRST)},
        {"name": "train/rail-1", "interface": "ib1", "ips": [], "dns": {}, "device-info": device(SECOND)},
    ]


def test_the_json_form_says_the_same() -> None:
    text = json.dumps([{"name": "rail-0"}, {"name": "rail-1", "namespace": "train", "interface": "x"}])
    (found,) = told(scene(definition(), RAIL_1), pod(text, rail_0=1, rail_1=1))
    assert [one["interface"] for one in found] == ["net1", "x"]


def test_a_device_is_in_one_pod() -> None:
    seen = scene(definition())
    (first, second) = told(seen, pod(name="a"), pod(name="b"))
    assert first[0]["device-info"] == device(FIRST)
    assert second == ("definition train/rail-0: VF pci addr is required: node n1 has no nvidia.com/rail_0 left")
    assert told(seen, pod(name="a", told=first), pod(name="b"))[0] == second
    assert told(seen, pod(name="a", told=first), pod(name="b", at="n2"))[0] == first


def test_a_pod_that_fails_holds_nothing() -> None:
    (bad, good) = told(scene(definition()), pod("rail-0,gone", name="a"), pod(name="b"))
    assert bad == "there is no NetworkAttachmentDefinition train/gone"
    assert good[0]["device-info"] == device(FIRST)


@pytest.mark.parametrize(
    ("networks", "reason"),
    [
        ("other/rail-0", "there is no NetworkAttachmentDefinition other/rail-0"),
        ("Rail", "train/Rail is no name that Multus reads"),
        ("rail-0@sixteen-letters-x", "is no name of an interface"),
        ("rail-0@a,rail-0@a", "two networks are a"),
        ("[{", "neither a list of names nor one of JSON objects"),
        ('["a"]', "neither a list of names nor one of JSON objects"),
        ("rail-0,rail-0", "the pod has 1 of nvidia.com/rail_0 for 2 attachments"),
    ],
)
def test_an_annotation_may_be_wrong(networks: str, reason: str) -> None:
    assert reason in told(scene(definition()), pod(networks))[0]


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ("{", "spec.config is not JSON"),
        ("[]", "spec.config is not JSON"),
        ({"cniVersion": None}, "cniVersion is missing"),
        ({"cniVersion": "9"}, "no plugin knows cniVersion 9"),
        ({"name": None}, "name is missing"),
        ({"type": None}, "type is missing"),
        ({"plugins": []}, "type is missing"),
        ({"type": "unheard-of"}, "failed to find plugin unheard-of in path [/opt/cni/bin]"),
        ({"type": "ib-sriov"}, "failed to find plugin ib-sriov"),
        ({"ipam": {"type": "whereabouts"}}, "failed to find plugin whereabouts"),
        ({"plugins": [{"type": "macvlan"}, {"type": "rdma"}]}, "failed to find plugin rdma"),
        ({"ipam": {"type": "host-local"}}, "gives the same addresses on every node"),
        ({"type": "macvlan"}, "without master, macvlan takes the interface of the default route"),
        ({"type": "macvlan", "master": "enp1s0"}, "node n1 has no interface enp1s0"),
        ({"type": "ipoib", "master": "enp26s0f0np0"}, "ipoib is for infiniband"),
    ],
)
def test_a_definition_may_be_wrong(config: Any, reason: str) -> None:
    text = config if isinstance(config, str) else json.loads(definition()["spec"]["config"]) | config
    stated = config if isinstance(config, str) else json.dumps(text)
    assert reason in told(scene(changed(definition(), "spec.config", stated)), pod())[0]


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"one": policy(secondaryNetwork=None)}, "Multus does not run here: no NicClusterPolicy has secondaryNetwork"),
        ({"one": policy(secondaryNetwork={**NETWORK, "multus": {"image": "x"}})}, "multus: repository is required"),
        ({"fabric": Fabric(None, (policy(),))}, "the network operator is not available"),
        ({"one": policy(secondaryNetwork={"multus": IMAGE})}, "failed to find plugin host-device"),
        (
            {
                "fabric": Fabric(OPERATOR, ()),
                "daemon_sets": (daemon_set("multus", "multus-cni", path="/run/netns"),),
            },
            "DaemonSet multus mounts /run/netns",
        ),
        (
            {"fabric": Fabric(OPERATOR, ()), "daemon_sets": (daemon_set("multus", "x", space="bare"),)},
            "namespace bare of DaemonSet multus lacks",
        ),
        (
            {"fabric": Fabric(OPERATOR, ()), "daemon_sets": (daemon_set("multus", "x", nodeSelector={"a": "b"}),)},
            "DaemonSet multus does not choose this node",
        ),
        (
            {"fabric": Fabric(OPERATOR, ()), "daemon_sets": (daemon_set("multus", "x", tolerations=[]),)},
            "DaemonSet multus does not tolerate taint",
        ),
    ],
)
def test_what_is_on_the_node_has_a_say(spoilt: Object, reason: str) -> None:
    assert reason in told(scene(definition(), **spoilt), pod())[0]


def test_multus_and_plugins_may_come_from_daemon_sets() -> None:
    own = (daemon_set("kube-multus-ds", "multus-cni"), daemon_set("cni", "registry/plugins:1"))
    seen = scene(definition(), fabric=Fabric(OPERATOR, ()), daemon_sets=own)
    assert told(seen, pod())[0][0]["device-info"] == device(FIRST)


def test_a_definition_of_devices_names_their_resource() -> None:
    assert "it has no annotation of a resource" in told(scene(definition(resource="")), pod())[0]
    assert "the pod has 0 of nvidia.com/rail_0" in told(scene(definition()), pod(other=1))[0]
    entry = {"resourceName": "all", "rdmaHcaMax": 63, "selectors": {"linkTypes": ["ether"]}}
    shared = policy(rdmaSharedDevicePlugin={**IMAGE, "config": json.dumps({"configList": [entry]})})
    asking = changed(pod(), "spec.containers", [{"resources": {"limits": {"rdma/all": "1"}}}])
    found = told(scene(definition(resource="rdma/all"), one=shared), asking, at=here(one=shared))
    assert "VF pci addr is required: node n1 has no rdma/all left" in found[0]


def sriov(kind: str, fabric: str, vfs: int = 8, networks: str = "rail-0", **more: Any) -> Any:
    plugin = daemon_set("x", f"ghcr.io/k8snetworkplumbingwg/{kind}-cni:v1")
    seen = scene(definition(type=kind), daemon_sets=(plugin,), **more)
    return told(seen, pod(networks), at=here(fabric=fabric, vfs=vfs))[0]


def test_vfs_are_moved_by_the_plugin_of_their_fabric() -> None:
    assert sriov("sriov", "ethernet")[0]["device-info"] == device("0000:1a:00.1")
    assert "ib-sriov is for infiniband" in sriov("ib-sriov", "ethernet")
    assert "sriov is for ether, 0000:1a:00.1 speaks infiniband" in sriov("sriov", "infiniband")
    assert "sriov moves VFs, and 0000:1a:00.0 is none" in sriov("sriov", "ethernet", vfs=0)


def test_a_vf_of_infiniband_needs_a_guid() -> None:
    assert "VF 0000:1a:00.1 GUID is not valid" in sriov("ib-sriov", "infiniband")
    given = json.dumps([{"name": "rail-0", "infiniband-guid": "c2:11:22:33:44:55:66:77"}])
    assert sriov("ib-sriov", "infiniband", networks=given)[0]["device-info"] == device("0000:1a:00.1")
    assert sriov("ib-sriov", "infiniband", one=policy(ibKubernetes=IMAGE))[0]["interface"] == "net1"


def test_interfaces_on_a_master() -> None:
    one = definition(resource="", type="macvlan", master="enp26s0f0np0")
    assert told(scene(one), pod())[0][0] == {"name": "train/rail-0", "interface": "net1", "ips": [], "dns": {}}
    ipoib = scene(definition(resource="", type="ipoib", master="ibp26s0"))
    assert told(ipoib, pod(), at=here(fabric="infiniband"))[0][0]["interface"] == "net1"
    without = here(fabric="infiniband", modules=("ib_uverbs", "ib_umad", "rdma_ucm"))
    assert "kernel module ib_ipoib is not loaded" in told(ipoib, pod(), at=without)[0]


def test_blank_annotations_ask_for_nothing() -> None:

    assert asks(pod())
    assert not asks(pod(" "))
    assert not asks(changed(pod(), "metadata.annotations", {}))
    assert not asks(changed(pod(), "spec.nodeName", ""))
    assert not asks(changed(pod(), "spec.hostNetwork", True))
    assert not asks({**pod(), "status": {"phase": "Succeeded"}})
