"""Claims or counts: never both on a node, and the same names for everybody who asks."""

from __future__ import annotations

import json
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
    for allocation, amd_way, intel_way, releases in (
        ("devicePlugin", "amd.com/gpu", "habana.ai/gaudi", ["nfd", "rocm", "gaudi"]),
        ("dra", "gpu.amd.com", "gaudi.intel.com", ["nfd", "rocm", "gaudi-dra"]),
    ):
        pools = {
            "amd": {**amd, "allocation": allocation, "nodes": ["amd-1"]},
            "intel": {**intel, "allocation": allocation, "nodes": ["intel-1"]},
        }
        plan = planned(pools)
        found = {one.name: one.resources | one.devices for one in plan.nodes}
        assert found == {"amd-1": {amd_way: 8}, "intel-1": {intel_way: 8}}
        assert [one.key for one in plan.gpu_operator.releases] == releases


def test_an_amd_node_outside_talos_gets_the_labels_by_which_its_device_config_finds_it() -> None:
    plan = planned({"a": {"gpu": {"model": "mi300x-192gb"}, "os": "other", "nodes": {"n1": {"rack": "r1"}}}})
    config = next(one for one in plan.gpu_operator.manifests if one.body["kind"] == "DeviceConfig")
    ours = {key: value for key, value in config.body["spec"]["selector"].items() if key.startswith("gpu-platform/")}
    assert ours.items() <= labels(plan, "n1").items()


def test_partitions_multiply_devices_where_nodes_ask_for_them() -> None:
    nodes = {"n1": {}, "n2": {"partition": {}}, "n3": {"state": "accepting"}}
    pool = {"gpu": {"model": "mi300x-192gb"}, "os": "other", "partition": {"compute": "CPX", "memory": "NPS4"}}
    plan = planned({"a": {**pool, "nodes": nodes}})
    assert {one.name: one.resources["amd.com/gpu"] for one in plan.nodes} == {"n1": 64, "n2": 8, "n3": 8}
    key = "dcm.amd.com/gpu-config-profile"
    assert [labels(plan, name).get(key) for name in nodes] == ["cpx-nps4-8", "spx-nps1-8", None]
    data = next(one for one in plan.gpu_operator.manifests if one.key == "amd-partitions").body["data"]
    profiles = json.loads(data["config.json"])["gpu-config-profiles"]
    stated = {"computePartition": "CPX", "memoryPartition": "NPS4", "numGPUsAssigned": 8}
    assert profiles["cpx-nps4-8"] == {"skippedGPUs": {"ids": []}, "profiles": [stated]}
    config = next(one for one in plan.gpu_operator.manifests if one.key == "a-device-config").body["spec"]
    name = next(one for one in plan.gpu_operator.manifests if one.key == "amd-partitions").body["metadata"]["name"]
    assert config["configManager"]["config"] == {"name": name}


def test_operands_do_not_outlast_the_partitioning_and_feature_discovery_does() -> None:
    """ROCm/gpu-operator docs/dcm: operands that tolerate its taint would not see the new devices."""
    plan = planned({"a": {"gpu": {"model": "mi300x-192gb"}, "nodes": ["n1"]}})
    config = next(one for one in plan.gpu_operator.manifests if one.body["kind"] == "DeviceConfig").body["spec"]
    assert config["devicePlugin"]["devicePluginTolerations"] == []
    assert "amd-dcm" in [one["key"] for one in values(plan, "nfd")["worker"]["tolerations"]]
