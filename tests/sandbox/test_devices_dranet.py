"""The network devices that dranet publishes for claims, and every reason why it publishes none."""

from typing import Any

import pytest

from sandbox.devices.decide import RAILS, Published, decide
from sandbox.devices.fabric import Fabric
from sandbox.devices.hardware import COUNT
from sandbox.devices.ports import FABRIC
from tests.sandbox.charts import needs_renderer, one, render
from tests.sandbox.device_objects import Object, changed, node, view
from tests.sandbox.test_devices_fabric import MODULES, NOTES, OPERATOR, SPACES, policy

TOLERATE = {"operator": "Exists", "effect": "NoSchedule"}
REGISTRY = {"name": "r", "hostPath": {"path": "/var/lib/kubelet/plugins_registry"}}
POD: Object = {"tolerations": [TOLERATE], "volumes": [REGISTRY, {"name": "other"}]}
PLUGIN: Object = {"metadata": {"name": "dranet", "namespace": "net"}, "spec": {"template": {"spec": POD}}}


def told(
    plugin: Object | None = PLUGIN, fabric: str = "infiniband", release: str = "v1.14.1", **spoilt: Any
) -> Published:
    seen = {"namespaces": SPACES, "dranet": plugin, "fabric": spoilt.pop("view_of", Fabric())}
    modules = spoilt.pop("modules", (*MODULES, "ib_ipoib"))
    more = {**NOTES, FABRIC: fabric, COUNT: spoilt.pop("count", "8")}
    here = node(modules=modules, release=release, more=more, system=spoilt.pop("system", "talos"))
    here["metadata"]["labels"] = {"feature.node.kubernetes.io/pci-15b3.present": "true"}
    return decide(view(**{**seen, **spoilt}), here)


def devices(done: Published) -> dict[str, Object]:
    return {one["name"]: one["attributes"] for each in done.slices for one in each["spec"]["devices"]}


def test_every_port_but_the_uplink_is_published() -> None:
    done = told()
    (found,) = done.slices
    assert (found["spec"]["driver"], found["spec"]["pool"]["name"]) == ("dra.net", "gpu-01")
    assert len(devices(done)) == 9
    assert "pci-0000-9d-00-0" not in devices(done)
    assert done.annotations[RAILS] == "9 ports published for claims"
    assert devices(done)["pci-0000-1a-00-0"] == {
        "dra.net/ifName": {"string": "ibp26s0"},
        "dra.net/numaNode": {"int": 0},
        "dra.net/pciAddress": {"string": "0000:1a:00.0"},
        "dra.net/rdma": {"bool": True},
        "dra.net/rdmaDevice": {"string": "mlx5_0"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:00"},
    }
    last = devices(done)["pci-0000-dc-00-0"]
    assert [last[f"dra.net/{key}"] for key in ("numaNode", "rdmaDevice")] == [{"int": 1}, {"string": "mlx5_9"}]
    assert last["resource.kubernetes.io/pcieRoot"] == {"string": "pci0000:70"}


def test_a_port_has_no_name_without_a_netdev_and_no_verbs_without_their_modules() -> None:
    first = devices(told(modules=("nvidia",)))["pci-0000-1a-00-0"]
    assert "dra.net/ifName" not in first
    assert first["dra.net/rdma"] == {"bool": False}
    assert devices(told(fabric="ethernet", modules=MODULES))["pci-0000-1a-00-0"]["dra.net/ifName"] == {
        "string": "enp26s0f0np0"
    }
    assert devices(told(count="0"))["pci-0000-1a-00-0"]["resource.kubernetes.io/pcieRoot"] == {"string": "pci0000:00"}


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"release": "v1.13.9"}, "NRI is off in Talos v1.13.9"),
        ({"namespaces": {**SPACES, "net": {}}}, "namespace net of dranet lacks"),
        ({"plugin": changed(PLUGIN, "spec.template.spec.tolerations", None)}, "dranet does not tolerate taint"),
        ({"plugin": changed(PLUGIN, "spec.template.spec.volumes", [])}, "where the kubelet looks"),
    ],
)
def test_a_reason_for_no_devices_is_said(spoilt: dict[str, Any], reason: str) -> None:
    done = told(**spoilt)
    assert reason in done.annotations[RAILS]
    assert done.slices == ()


def test_where_its_pods_do_not_run_nothing_is_said() -> None:
    assert RAILS not in told(plugin=None).annotations
    assert RAILS not in told(changed(PLUGIN, "spec.template.spec.nodeSelector", {"a": "b"})).annotations


def test_kube_system_and_other_systems_admit_it() -> None:
    assert devices(told(changed(PLUGIN, "metadata.namespace", "kube-system")))
    assert devices(told(system="other", release="", namespaces={**SPACES, "net": {}}))


def test_ports_that_are_handed_out_twice_are_seen() -> None:
    both = told(view_of=Fabric(OPERATOR, (policy(),)))
    assert both.annotations[RAILS].startswith("handed out twice: 8 ports handed out as 1 resources, and 9 ports")


@needs_renderer
def test_what_the_chart_installs_publishes_ports() -> None:
    daemon = one(render("dranet", {"nodeSelector": {"kubernetes.io/os": "linux"}}), "DaemonSet", "dranet")
    placed = changed(changed(daemon, "metadata.namespace", "net"), "spec.template.spec.nodeSelector", None)
    assert len(devices(told(placed))) == 9
    elsewhere = one(render("dranet", {"kubeletRootDir": "/k", "fullnameOverride": "x"}), "DaemonSet", "x")
    assert "kubeletRootDir" in told(changed(elsewhere, "metadata.namespace", "net")).annotations[RAILS]
    assert not [each for each in render("dranet", {}) if each["kind"] == "DeviceClass"]


@needs_renderer
def test_arguments_are_spelled_as_flags() -> None:
    daemon = one(render("dranet", {"args": {"filter": "a == 'b'", "moveIBInterfaces": True}}), "DaemonSet", "dranet")
    flags = daemon["spec"]["template"]["spec"]["containers"][0]["args"]
    assert flags == ["--v=4", "--filter=a == 'b'", "--move-ib-interfaces=true"]
