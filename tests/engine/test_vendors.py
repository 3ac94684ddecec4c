"""Three vendors in one stack: nodes hand out what the plan says, to those that count and to those that claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.vendor_stack import DRA_API, as_planned, claimed, counted, sentence

if TYPE_CHECKING:
    from sandbox.kube import Kube
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine


def test_every_node_hands_out_what_the_plan_says(vendors: Stack, kube: Kube) -> None:
    as_planned(kube, vendors)
    handed = {name: node["resources"] | node["devices"] for name, node in vendors.outputs()["nodes"].items()}
    assert handed == {
        "v-plain-01": {"nvidia.com/gpu": 8},
        "v-claims-01": {"gpu.nvidia.com": 8},
        "v-claims-02": {"mig.nvidia.com": 24},
        "v-shared-01": {"nvidia.com/gpu": 16},
        "v-shared-02": {"nvidia.com/gpu": 4},
        "v-notebooks-01": {"nvidia.com/mig-1g.10gb.shared": 112},
        "v-amd-01": {"amd.com/gpu": 8},
        "v-amd-02": {"gpu.amd.com": 8},
        "v-amd-03": {"amd.com/gpu": 64},
        "v-amd-04": {"amd.com/gpu": 8},
        "v-gaudi-01": {"habana.ai/gaudi": 8},
    }


def test_nobody_hands_a_card_out_twice(vendors: Stack, kube: Kube) -> None:
    for name in vendors.outputs()["nodes"]:
        assert "handed out twice" not in sentence(kube, name)


def test_every_class_that_the_outputs_name_is_in_the_cluster(vendors: Stack, kube: Kube) -> None:
    named = {one for node in vendors.outputs()["nodes"].values() for one in node["devices"]}
    there = {one["metadata"]["name"] for one in kube.items(DRA_API, "deviceclasses")}
    assert named == {"gpu.nvidia.com", "mig.nvidia.com", "gpu.amd.com"}
    assert named <= there


def test_a_second_up_changes_nothing(vendors: Stack) -> None:
    assert set(vendors.up().ok().changes) == {"unchanged"}


def test_a_way_of_sharing_that_is_added_relabels_nobody(vendors: Stack, kube: Kube) -> None:
    config = vendors.config()
    gpu = config["gpu-platform:gpu"]
    more = {**gpu["sharing"], "dev-8": {"mode": "timeSlicing", "replicas": 8}}
    vendors.write({**config, "gpu-platform:gpu": {**gpu, "sharing": more}})
    try:
        text = vendors.preview("--diff").ok().text
        assert "NodePatch" not in text
        vendors.up().ok()
        as_planned(kube, vendors)
    finally:
        vendors.write(config).up().ok()


def test_a_pool_moves_from_counts_to_claims_and_back(vendors: Stack, kube: Kube) -> None:
    config = vendors.config()
    before: dict[str, Any] = config["gpu-platform:inventory"]["pools"]
    claims = {**before["v-plain"], "allocation": "dra"}
    vendors.write({**config, "gpu-platform:inventory": {"pools": {**before, "v-plain": claims}}})
    vendors.up().ok()
    as_planned(kube, vendors)
    assert claimed(kube, "v-plain-01") == {"gpu.nvidia.com": 8}
    vendors.write(config).up().ok()
    as_planned(kube, vendors)
    assert counted(kube, "v-plain-01") == {"nvidia.com/gpu": 8}


def test_partitions_are_changed_by_a_label(vendors: Stack, kube: Kube) -> None:
    config = vendors.config()
    before: dict[str, Any] = config["gpu-platform:inventory"]["pools"]
    parts = {**before["v-amd-parts"], "partition": {"compute": "DPX", "memory": "NPS2"}}
    vendors.write({**config, "gpu-platform:inventory": {"pools": {**before, "v-amd-parts": parts}}})
    vendors.up().ok()
    as_planned(kube, vendors)
    assert counted(kube, "v-amd-03") == {"amd.com/gpu": 16}
    vendors.write(config).up().ok()
    as_planned(kube, vendors)
