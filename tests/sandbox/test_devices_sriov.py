"""VFs that the SR-IOV operator makes, and every reason why it makes none."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.devices.decide import RAILS, Published, decide
from sandbox.devices.device_plugins import FabricError
from sandbox.devices.fabric import POLICY, PRESENT, Fabric
from sandbox.devices.ports import FABRIC, ports
from sandbox.devices.sriov import Sriov
from sandbox.devices.sriov_policy import checked, groups
from tests.sandbox.charts import RenderError, needs_renderer, one, render
from tests.sandbox.device_objects import Object, changed, node, view
from tests.sandbox.test_devices_fabric import MODULES, NOTES, OPERATOR, SPACES, policy, whole

FIRST, SECOND = "0000:1a:00.0", "0000:3c:00.0"
BARE: Object = {"metadata": {"name": POLICY}, "spec": {}}
IMAGE = "registry.local/sriov-network-operator-config-daemon:talos"
STOCK = "nvcr.io/nvidia/mellanox/sriov-network-operator-config-daemon:network-operator-v26.4.1"
HEAD = {"name": "default", "namespace": "net"}
CONFIG: Object = {
    "metadata": HEAD,
    "spec": {
        "configDaemonNodeSelector": {
            "beta.kubernetes.io/os": "linux",
            "network.nvidia.com/operator.mofed.wait": "false",
        },
        "configDaemonEnvVars": {"UDEV_BASE_PATH": "/run/udev", "SKIP_MODPROBE_CONFIG": "true"},
    },
}


def operator(image: str = IMAGE) -> Object:
    env = [
        {"name": "RESOURCE_PREFIX", "value": "nvidia.com"},
        {"name": "SRIOV_NETWORK_CONFIG_DAEMON_IMAGE", "value": image},
    ]
    pod = {"containers": [{"name": "operator", "env": env}]}
    metadata = {"name": "sriov-network-operator", "namespace": "net"}
    return {"metadata": metadata, "spec": {"template": {"spec": pod}}, "status": {"availableReplicas": 1}}


def wanted(name: str = "rail-0", space: str = "net", **spec: Any) -> Object:
    good: Object = {
        "resourceName": "rail_0",
        "nodeSelector": {PRESENT: "true"},
        "numVfs": 8,
        "nicSelector": {"rootDevices": [FIRST]},
        "isRdma": True,
    }
    return {"metadata": {"name": name, "namespace": space}, "spec": {**good, **spec}}


GOOD = Sriov(operator(), (CONFIG,), (wanted(),))


def made(sriov: Sriov = GOOD, fabric: str = "infiniband", ncp: Object | None = BARE, **spoilt: Any) -> Published:
    here = node(modules=spoilt.pop("modules", MODULES), more={**NOTES, FABRIC: fabric})
    here["metadata"]["labels"] = {PRESENT: "true"}
    seen = Fabric(OPERATOR, (ncp,) if ncp else (), sriov)
    return decide(view(**{"namespaces": SPACES, "fabric": seen, **spoilt}), here)


def test_vfs_are_made_and_handed_out() -> None:
    done = made(
        replace(GOOD, policies=(wanted(), wanted("b", resourceName="rail_1", nicSelector={"pfNames": ["ibp60s0"]})))
    )
    assert done.resources == {"nvidia.com/gpu": "8", "nvidia.com/rail_0": "8", "nvidia.com/rail_1": "8"}
    assert done.annotations[RAILS] == "16 VFs of 2 ports handed out as 2 resources"
    assert len(done.functions) == 26


def test_a_machine_that_no_policy_chooses_is_left_alone() -> None:
    elsewhere = replace(GOOD, operator=None, policies=(wanted(nodeSelector={"a": "b"}),))
    assert RAILS not in made(elsewhere).annotations


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"operator": None}, "the SR-IOV operator is not available"),
        ({"configs": ()}, "no SriovOperatorConfig default is in namespace net"),
        ({"policies": (wanted(space="other"),)}, "ignores SriovNetworkNodePolicies outside its namespace net"),
        ({"operator": operator(STOCK)}, "writes to /etc, which is read-only on Talos"),
        ({"operator": operator(f"mirror.local/{STOCK}")}, "writes to /etc, which is read-only on Talos"),
        ({"configs": (changed(CONFIG, "spec.configDaemonEnvVars.UDEV_BASE_PATH", None),)}, "lacks UDEV_BASE_PATH"),
        ({"configs": (changed(CONFIG, "spec.configDaemonEnvVars", None),)}, "lacks UDEV_BASE_PATH"),
        ({"configs": (changed(CONFIG, "spec.configDaemonNodeSelector", None),)}, "selects nodes with node-role"),
        ({"configs": (changed(CONFIG, "spec.configurationMode", "systemd"),)}, "needs a systemd"),
        ({"policies": (wanted(resourceName="rail_"),)}, "'rail_' is no resourceName"),
        ({"policies": (wanted(nodeSelector={}),)}, "nodeSelector is required"),
        ({"policies": (wanted(numVfs=0),)}, "numVfs is required"),
        ({"policies": (wanted(numVfs=17),)}, "holds 16 VFs"),
        ({"policies": (wanted(nicSelector={}),)}, "nicSelector selects nothing"),
        ({"policies": (wanted(priority=100),)}, "priority is not within 0 and 99"),
        ({"policies": (wanted(linkType="ETH"),)}, "linkType ETH is not what 0000:1a:00.0 speaks"),
        ({"policies": (wanted(deviceType="vfio-pci"),)}, "deviceType vfio-pci has no verbs"),
        ({"policies": (wanted(eSwitchMode="switchdev"),)}, "eSwitchMode switchdev is for Ethernet"),
        ({"policies": (wanted(externallyManaged=True),)}, "has 0 VFs, and externallyManaged makes no more"),
        ({"policies": (wanted(nicSelector={"pfNames": ["ibp26s0#0-8"]}),)}, "is no range within 8 VFs"),
    ],
)
def test_a_reason_for_no_vfs_is_said(spoilt: Object, reason: str) -> None:
    done = made(replace(GOOD, **spoilt))
    assert reason in done.annotations[RAILS]
    assert done.resources == {"nvidia.com/gpu": "8"}


def test_what_is_around_the_operator_has_a_say() -> None:
    assert "operator.mofed.wait=false" in made(ncp=None).annotations[RAILS]
    assert "namespace net lacks" in made(namespaces={**SPACES, "net": {}}).annotations[RAILS]
    assert "ib_uverbs is not loaded" in made(modules=("nvidia", "nvidia_uvm")).annotations[RAILS]
    assert "leave out one" in made(ncp=policy("sriovDevicePlugin", whole(SECOND))).annotations[RAILS]
    assert "lacks isRdma" in made(replace(GOOD, policies=(wanted(isRdma=False),))).annotations[RAILS]


def test_a_selector_by_vendor_takes_ports_off_the_fabric() -> None:
    broad = replace(GOOD, policies=(wanted(nicSelector={"vendor": "15b3"}, numVfs=1),))
    assert made(broad).annotations[RAILS].startswith("handed out, though not on the fabric: 0000:9d:00.2")


def halves(**second: Any) -> dict[str, list[tuple[str, range]]]:
    one = wanted("a", nicSelector={"pfNames": ["ibp26s0#0-3"]})
    other = wanted("b", resourceName="x", nicSelector={"pfNames": ["ibp26s0#4-7"]}, **second)
    found = groups([checked(one), checked(other)], ports(NOTES))
    return {pci: [(each.resource, each.numbers) for each in row.groups] for pci, row in found.items()}


def test_policies_share_a_port_by_ranges() -> None:
    assert halves() == {FIRST: [("rail_0", range(4)), ("x", range(4, 8))]}


def test_the_lower_number_wins_where_two_policies_overlap() -> None:
    strong = wanted("a", resourceName="strong", priority=1, numVfs=2)
    found = groups([strong, wanted("b", priority=90)], ports(NOTES))
    assert [each.resource for each in found[FIRST].groups] == ["strong"]
    assert found[FIRST].count == 2


def test_a_range_has_one_form() -> None:
    with pytest.raises(FabricError, match="is no range within 8 VFs"):
        checked(wanted(nicSelector={"pfNames": ["ibp26s0#3"]}))


VALUES: Object = {
    "nfd": {"enabled": False},
    "sriovNetworkOperator": {"enabled": True},
    "sriov-network-operator": {
        "images": {"sriovConfigDaemon": IMAGE},
        "sriovOperatorConfig": {
            "configDaemonEnvVars": {"UDEV_BASE_PATH": "/run/udev", "SKIP_MODPROBE_CONFIG": "true"},
            "disablePlugins": ["mellanox"],
            "disableDrain": True,
        },
    },
}


@needs_renderer
def test_what_the_chart_installs_makes_vfs() -> None:
    found = render("network-operator", VALUES, "net")
    deployment = changed(one(found, "Deployment", "sriov-network-operator"), "metadata.namespace", "net")
    config = one(found, "SriovOperatorConfig", "default")
    assert config["spec"]["disablePlugins"] == ["mellanox"]
    running = {**deployment, "status": {"availableReplicas": 1}}
    assert made(Sriov(running, (config,), (wanted(),))).resources["nvidia.com/rail_0"] == "8"


@needs_renderer
def test_the_charts_gates() -> None:
    kinds = {each["kind"] for each in render("network-operator", {"nfd": {"enabled": False}})}
    assert "SriovOperatorConfig" not in kinds
    bare = {**VALUES, "sriov-network-operator": {"sriovOperatorConfig": {"deploy": False}}}
    assert "SriovOperatorConfig" not in {each["kind"] for each in render("network-operator", bare)}
    hooks = {**VALUES, "sriov-network-operator": {"operator": {"admissionControllers": {"enabled": True}}}}
    with pytest.raises(RenderError, match="no admission controllers"):
        render("network-operator", hooks)
