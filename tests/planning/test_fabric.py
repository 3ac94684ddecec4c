"""Rails, networks and limits: what goes together goes together, in every mode."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gpu_platform.outputs import outputs_of
from gpu_platform.settings.document import load
from tests.stack_files import FIXTURES, document, good

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan

CLUSTER = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.35.6"}
RAILS = {"supernet": "192.168.0.0/16", "railPrefix": 22}
MODES = {
    "ib-shared": "infiniband",
    "ipoib-shared": "infiniband",
    "macvlan-shared": "ethernet",
    "host-device": "ethernet",
    "sriov-static": "infiniband",
    "sriov": "ethernet",
}


def planned(mode: str, **fabric: Any) -> Plan:
    pool = {
        "gpu": {"model": "h100-sxm-80gb"},
        "nics": {"profile": "xe9680-8rail-cx7", "fabric": MODES[mode]},
        "nodes": ["n1", "n2"],
    }
    section = {"mode": mode, "rails": RAILS, **VIRTUAL.get(mode, {}), **fabric}
    return good(document(cluster=CLUSTER, inventory={"pools": {"train": pool}}, fabric=section))


VIRTUAL: dict[str, dict[str, Any]] = {
    "sriov-static": {
        "ufm": {"secret": "ufm", "guidStart": "02:00:00:00:00:00:00:00", "guidEnd": "02:00:00:00:00:00:FF:FF"}
    },
    "sriov": {"sriovDaemonImage": "registry.lab/sriov-daemon:v1"},
}


def bodies(plan: Plan, kind: str) -> list[dict[str, Any]]:
    return [one.body for one in plan.rdma_fabric.manifests if one.body["kind"] == kind]


def handed_out(plan: Plan) -> set[str]:
    """Return the resources that the device plugins' configurations name, as they would, or the SR-IOV operator's."""
    spec = bodies(plan, "NicClusterPolicy")[0]["spec"]
    entries = [
        entry
        for plugin, key in (("rdmaSharedDevicePlugin", "configList"), ("sriovDevicePlugin", "resourceList"))
        if plugin in spec
        for entry in json.loads(spec[plugin]["config"])[key]
    ]
    functions = bodies(plan, "SriovNetworkNodePolicy")
    by_operator = {f"nvidia.com/{one['spec']['resourceName']}" for one in functions}
    return by_operator | {f"{one['resourcePrefix']}/{one['resourceName']}" for one in entries}


@pytest.mark.parametrize("mode", MODES)
def test_limits_name_what_plugins_hand_out_and_networks_what_is_defined(mode: str) -> None:
    plan = planned(mode)
    pool = outputs_of(plan).fabric.pools["train"]  # type: ignore[union-attr]
    assert set(pool.limits) == {"nvidia.com/gpu", *handed_out(plan)}
    attached = [one for one in pool.networks.split(",") if one]
    assert attached == [one["metadata"]["name"] for one in bodies(plan, "NetworkAttachmentDefinition")]
    assert len(attached) == (0 if mode == "ib-shared" else 8)
    assert len(pool.rails) == 8


@pytest.mark.parametrize("mode", MODES)
def test_every_network_draws_on_a_pool_of_addresses_that_is_there(mode: str) -> None:
    plan = planned(mode)
    pools = {one["metadata"]["name"] for one in bodies(plan, "IPPool")}
    drawn = [json.loads(one["spec"]["config"])["ipam"] for one in bodies(plan, "NetworkAttachmentDefinition")]
    assert {one["poolName"] for one in drawn} == pools
    assert {one["type"] for one in drawn} <= {"nv-ipam"}


def test_a_whole_port_is_tied_to_the_resource_of_its_rail() -> None:
    """Mellanox/network-operator#1674: an annotation without its resource loops for ever."""
    plan = planned("host-device")
    pool = outputs_of(plan).fabric.pools["train"]  # type: ignore[union-attr]
    for rail, body in zip(pool.rails, bodies(plan, "NetworkAttachmentDefinition"), strict=True):
        assert body["metadata"]["annotations"] == {"k8s.v1.cni.cncf.io/resourceName": rail.resource}
        assert pool.limits[rail.resource] == "1"


def test_north_south_ports_are_never_selected() -> None:
    for mode in ("host-device", "ipoib-shared", "macvlan-shared"):
        text = json.dumps(bodies(planned(mode), "NicClusterPolicy"))
        assert "0000:9d:00" not in text
        assert "p157s0" not in text


def test_the_policy_is_what_talos_can_run() -> None:
    for mode in MODES:
        (body,) = bodies(planned(mode), "NicClusterPolicy")
        assert body["metadata"]["name"] == "nic-cluster-policy"
        assert "ofedDriver" not in body["spec"]
        plugins = [one for one in body["spec"].values() if isinstance(one, dict) and "config" in one]
        assert [one["useCdi"] for one in plugins] == ([] if mode == "sriov" else [False])
        multus = body["spec"].get("secondaryNetwork", {}).get("multus")
        assert multus is None or multus["containerResources"][0]["limits"]["memory"] == "256Mi"


def test_one_rail_keeps_the_bare_name() -> None:
    plan = good(load(FIXTURES / "valid" / "fabric-of-one-rail-on-talos-1-14.yaml").keys)
    assert plan.fabric is not None
    (rail,) = plan.fabric.pools[0].rails
    assert (rail.network, rail.resource) == ("ib-rdma", "rdma/ib_rdma")


def test_every_namespace_has_every_network_under_the_same_name() -> None:
    plan = planned("host-device", attachIn=["training", "tests"])
    found = [
        (one["metadata"]["namespace"], one["metadata"]["name"]) for one in bodies(plan, "NetworkAttachmentDefinition")
    ]
    assert found == [(space, f"ib-rdma-rail-{rail}") for space in ("training", "tests") for rail in range(8)]


def test_the_patch_is_all_that_a_pod_needs() -> None:
    patch = outputs_of(planned("host-device")).fabric.pools["train"].patch  # type: ignore[union-attr]
    container = patch["spec"]["containers"][0]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "8"
    assert container["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    names = [one["name"] for one in container["env"]]
    assert names == ["NCCL_IB_HCA", "NCCL_SOCKET_IFNAME"]
    # The devices of the ports off the fabric, mlx5_5 and mlx5_6, are left out.
    assert container["env"][0]["value"] == "=mlx5_0,mlx5_1,mlx5_2,mlx5_3,mlx5_4,mlx5_7,mlx5_8,mlx5_9"
    assert patch["spec"]["volumes"] == [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]


@pytest.mark.parametrize(("talos", "place"), [("v1.13.9", "machine"), ("v1.14.0", "CRIBaseRuntimeSpecConfig")])
def test_machines_load_the_modules_and_let_containers_lock_memory(talos: str, place: str) -> None:
    """NVIDIA/nvidia-container-toolkit#2037: IPC_LOCK is no use to whoever is not root."""
    pool = {"nics": {"profile": "xe9680-8rail-cx7"}, "nodes": ["n1"]}
    cluster = {**CLUSTER, "talosVersion": talos}
    keys = document(
        cluster=cluster, inventory={"pools": {"train": pool}}, fabric={"mode": "ipoib-shared", "rails": RAILS}
    )
    documents = list(yaml.safe_load_all(good(keys).image.classes[0].patch))
    limit = {"type": "RLIMIT_MEMLOCK", "hard": 2**64 - 1, "soft": 2**64 - 1}
    if place == "machine":
        machine = documents[0]["machine"]
        modules = {one["name"] for one in machine["kernel"]["modules"]}
        assert machine["baseRuntimeSpecOverrides"] == {"process": {"rlimits": [limit]}}
    else:
        modules = {one["name"] for one in documents if one["kind"] == "KernelModuleConfig"}
        found = next(one for one in documents if one["kind"] == place)
        assert found["overrides"] == {"process": {"rlimits": [limit]}}
    assert modules >= {"mlx5_ib", "ib_uverbs", "ib_umad", "rdma_cm", "rdma_ucm", "ib_ipoib"}


def test_only_the_fabrics_plugin_hands_its_devices_out() -> None:
    """NVIDIA/aicr: the GPU device plugin would put every RDMA device into every pod with a GPU."""
    values = next(one for one in planned("ib-shared").gpu_operator.releases if one.key == "gpu-operator").values
    assert values["devicePlugin"]["env"] == [{"name": "MOFED_ENABLED", "value": "false"}]
    without = next(one for one in good(document()).gpu_operator.releases if one.key == "gpu-operator").values
    assert "env" not in without["devicePlugin"]
