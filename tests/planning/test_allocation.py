"""Claims or counts: never both on a node, and the same names for everybody who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.outputs import outputs_of
from tests.stack_files import document, good

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan

H100 = {"gpu": {"model": "h100-sxm-80gb"}}
CLUSTER = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.35.6"}


def planned(pools: dict[str, Any], **sections: Any) -> Plan:
    return good(document(cluster=CLUSTER, inventory={"pools": pools}, **sections))


def values(plan: Plan, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in plan.gpu_operator.releases if one.key == name).values
    return found


def labels(plan: Plan, node: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in plan.gpu_operator.manifests:
        if one.patch and one.body["metadata"]["name"] == node:
            found |= one.body["metadata"]["labels"]
    return found


def test_a_node_gives_the_device_plugin_up_in_the_write_that_calls_the_dra_driver() -> None:
    plan = planned({"train": {**H100, "nodes": ["n1"]}, "serve": {**H100, "allocation": "dra", "nodes": ["n2"]}})
    assert labels(plan, "n1") == {}
    asked = labels(plan, "n2")
    assert asked["nvidia.com/gpu.deploy.device-plugin"] == "false"
    selector = values(plan, "dra-driver")["kubeletPlugin"]["nodeSelector"]
    assert selector.items() <= asked.items()
    patch = next(one for one in plan.gpu_operator.manifests if one.key == "n2-allocation")
    assert set(asked) == set(patch.body["metadata"]["labels"])
    assert values(plan, "gpu-operator")["devicePlugin"]["enabled"] is True


def test_where_all_is_claimed_no_device_plugin_runs_anywhere() -> None:
    nodes = {"n1": {}, "n2": {"state": "accepting"}}
    plan = planned({"serve": {**H100, "allocation": "dra", "nodes": nodes}})
    assert values(plan, "gpu-operator")["devicePlugin"]["enabled"] is False
    assert [one.resources for one in plan.nodes] == [{}, {}]
    assert [one.devices for one in plan.nodes] == [{"gpu.nvidia.com": 8}, {}]


def test_a_node_that_is_not_taken_over_yet_counts_as_the_device_plugin_has_it() -> None:
    nodes = {"n2": {"state": "accepting"}}
    plan = planned({"train": {**H100, "nodes": ["n1"]}, "serve": {**H100, "allocation": "dra", "nodes": nodes}})
    accepting = plan.nodes[1]
    assert accepting.resources == {"nvidia.com/gpu": 8}
    assert accepting.devices == {}


def test_both_drivers_look_for_the_driver_in_one_place() -> None:
    """NVIDIA/aicr#1087."""
    plan = planned({"serve": {**H100, "allocation": "dra", "nodes": ["n1"]}})
    root = values(plan, "gpu-operator")["hostPaths"]["driverInstallDir"]
    assert values(plan, "dra-driver")["nvidiaDriverRoot"] == root == "/usr/local"


def test_the_dra_driver_hands_out_gpus_and_no_compute_domains() -> None:
    """The chart fails on purpose without the override (kubernetes-sigs/dra-driver-nvidia-gpu)."""
    plan = planned({"serve": {**H100, "allocation": "dra", "taints": [{"key": "a"}], "nodes": ["n1"]}})
    found = values(plan, "dra-driver")
    assert found["gpuResourcesEnabledOverride"] is True
    assert found["resources"] == {"gpus": {"enabled": True}, "computeDomains": {"enabled": False}}
    assert [one["key"] for one in found["kubeletPlugin"]["tolerations"]] == ["nvidia.com/gpu", "a"]


def test_slices_are_devices_of_their_own_class() -> None:
    layouts = {"serve": {"0-3": ["3g.40gb", "2g.20gb", "2g.20gb"], "4-7": []}}
    pool = {**H100, "allocation": "dra", "mig": {"layout": "serve"}, "nodes": ["n1"]}
    plan = planned({"serve": pool}, gpu={"mig": {"layouts": layouts}})
    assert plan.nodes[0].devices == {"gpu.nvidia.com": 4, "mig.nvidia.com": 12}
    node = outputs_of(plan).nodes["n1"]
    assert (node.allocation, node.devices) == ("dra", {"gpu.nvidia.com": 4, "mig.nvidia.com": 12})


def test_metrics_know_whose_claimed_cards_are() -> None:
    plan = planned({"serve": {**H100, "allocation": "dra", "nodes": ["n1"]}})
    assert {"name": "KUBERNETES_ENABLE_DRA", "value": "true"} in values(plan, "gpu-operator")["dcgmExporter"]["env"]


def test_the_other_vendors_claims_have_classes_too() -> None:
    amd, intel = {"gpu": {"model": "mi300x-192gb"}}, {"gpu": {"model": "gaudi3-128gb"}, "os": "other"}
    pools = {
        f"{vendor}-{allocation.lower()}": {
            **pool,
            "allocation": allocation,
            "nodes": [f"{vendor}-{allocation.lower()}"],
        }
        for vendor, pool in (("amd", amd), ("intel", intel))
        for allocation in ("devicePlugin", "dra")
    }
    plan = planned(pools)
    assert {one.name: one.resources | one.devices for one in plan.nodes} == {
        "amd-deviceplugin": {"amd.com/gpu": 8},
        "amd-dra": {"gpu.amd.com": 8},
        "intel-deviceplugin": {"habana.ai/gaudi": 8},
        "intel-dra": {"gaudi.intel.com": 8},
    }
    assert [one.key for one in plan.gpu_operator.releases] == ["nfd", "rocm", "gaudi", "gaudi-dra"]
