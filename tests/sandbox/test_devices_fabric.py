"""Which rails a machine hands out under a NicClusterPolicy, and every reason why it hands out none."""

import json
from typing import Any

import pytest

from sandbox.devices.decide import RAILS, Published, decide
from sandbox.devices.fabric import POLICY, PRESENT, WAIT, Fabric
from sandbox.devices.placement import ENFORCE
from sandbox.devices.ports import FABRIC, NICS
from tests.sandbox.device_objects import Object, changed, node, view

IMAGE = {"image": "plugin", "repository": "registry", "version": "v1"}
MODULES = ("nvidia", "nvidia_uvm", "ib_uverbs", "ib_umad", "rdma_ucm")
NOTES = {NICS: "xe9680-8rail-cx7"}
OPERATOR = {"metadata": {"name": "network-operator", "namespace": "net"}, "status": {"availableReplicas": 1}}
SPACES = {name: {ENFORCE: "privileged"} for name in ("nfd", "gpu-operator", "net")}


def policy(section: str = "rdmaSharedDevicePlugin", config: Any = None, **spec: Any) -> Object:
    stated = config if isinstance(config, str) else json.dumps(config or shared())
    return {"metadata": {"name": POLICY}, "spec": {section: {**IMAGE, "config": stated}, **spec}}


def shared(**selectors: list[str]) -> Object:
    entry = {"resourceName": "rdma_all", "rdmaHcaMax": 63, "selectors": selectors or {"linkTypes": ["infiniband"]}}
    return {"configList": [entry]}


def whole(*pcis: str) -> Object:
    entries = [
        {"resourceName": f"rail_{index}", "selectors": {"pciAddresses": [pci], "isRdma": True}}
        for index, pci in enumerate(pcis)
    ]
    return {"resourceList": entries}


def found(one: Object, fabric: str = "infiniband", label: str = "true", **spoilt: Any) -> Published:
    more = {**NOTES, FABRIC: fabric, **spoilt.pop("more", {})}
    here = node(modules=spoilt.pop("modules", MODULES), release=spoilt.pop("release", "v1.13.9"), more=more)
    here["metadata"]["labels"] = {PRESENT: label}
    operator = spoilt.pop("operator", OPERATOR)
    return decide(view(**{"namespaces": SPACES, "fabric": Fabric(operator, (one,)), **spoilt}), here)


def rails(done: Published) -> dict[str, str]:
    return {name: count for name, count in done.resources.items() if name != "nvidia.com/gpu"}


def test_shared_cards_are_handed_out_beside_the_gpus() -> None:
    done = found(policy())
    assert done.resources == {"nvidia.com/gpu": "8", "rdma/rdma_all": "63"}
    assert done.annotations[RAILS] == "8 ports handed out as 1 resources"
    assert done.labels[WAIT] == "false"


def test_whole_ports_are_handed_out_by_their_address() -> None:
    done = found(policy("sriovDevicePlugin", whole("0000:1a:00.0", "0000:3c:00.0", "0000:ff:00.0")), "ethernet")
    assert rails(done) == {"nvidia.com/rail_0": "1", "nvidia.com/rail_1": "1"}


@pytest.mark.parametrize(
    ("one", "fabric"),
    [
        (policy(config=shared(vendors=["15b3"])), "infiniband"),
        (policy(config=shared(linkTypes=["ether"])), "ethernet"),
        (policy("sriovDevicePlugin", whole("0000:9d:00.0")), "infiniband"),
    ],
)
def test_ports_off_the_fabric_that_are_handed_out_are_seen(one: Object, fabric: str) -> None:
    assert found(one, fabric).annotations[RAILS].startswith("handed out, though not on the fabric: 0000:9d:00.0")


NODES = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "a", "operator": "In", "values": ["b"]}]}]}}  # fmt: skip


@pytest.mark.parametrize(
    ("one", "spoilt", "reason"),
    [
        (policy(), {"operator": None}, "the network operator is not available"),
        (policy(), {"namespaces": {**SPACES, "net": {}}}, "namespace net lacks"),
        (policy(), {"label": "false"}, f"device plugins want label {PRESENT}"),
        (policy(), {"modules": ("nvidia", "nvidia_uvm", "ib_uverbs")}, "kernel module ib_umad is not loaded"),
        (policy(ofedDriver=IMAGE), {}, "no container may do on Talos"),
        (policy(nodeAffinity=NODES), {}, "nodeAffinity of the policy does not choose this node"),
        (policy(config="{"), {}, "is not JSON"),
        (changed(policy(), "spec.rdmaSharedDevicePlugin.version", None), {}, "version is required"),
        (changed(policy(), "spec.rdmaSharedDevicePlugin.useCdi", True), {}, "useCdi writes to /etc/pcidp"),
        (policy(config={"configList": [{"resourceName": "a-b", "rdmaHcaMax": 1}]}), {}, "is no name"),
        (policy(config={"configList": [{"resourceName": "a"}]}), {}, "rdmaHcaMax is required"),
        (policy(config=shared(pciAddresses=["0000:1a:00.0"])), {}, "unknown selector pciAddresses"),
        (
            policy("sriovDevicePlugin", {"resourceList": [{"resourceName": "a", "selectors": {"x": []}}]}),
            {},
            "selector x",
        ),
    ],
)
def test_a_reason_for_no_rails_is_said_and_gpus_stay(one: Object, spoilt: dict[str, Any], reason: str) -> None:
    done = found(one, **spoilt)
    assert reason in done.annotations[RAILS]
    assert done.resources == {"nvidia.com/gpu": "8"}


def test_a_policy_without_device_plugins_only_marks_the_nodes() -> None:
    bare = {"metadata": {"name": POLICY}, "spec": {}}
    done = found(bare)
    assert RAILS not in done.annotations
    assert done.labels[WAIT] == "false"
    assert found({**bare, "spec": {"ofedDriver": IMAGE}}).labels[WAIT] == "true"
    assert WAIT not in found(bare, label="false").labels


def test_a_policy_of_another_name_does_nothing() -> None:
    other = changed(policy(), "metadata.name", "mine")
    assert RAILS not in found(other).annotations
