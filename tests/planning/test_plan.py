"""What follows from a stack file."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_platform.planning.image.machine_config import Contribution, merge
from gpu_platform.planning.model import Part
from tests.stack_files import document, good, pool


def test_three_lines_give_an_image_and_both_operators() -> None:
    plan = good(document())
    assert [one.name for one in plan.image.classes] == ["h100"]
    assert [release.key for release in plan.gpu_operator.releases] == ["nfd", "gpu-operator"]
    assert [node.gpu_count for node in plan.nodes] == [8, 8]


def test_an_sxm_board_gets_the_fabric_manager_and_a_four_card_board_does_not() -> None:
    eight, four = (
        good(document(inventory=pool(gpu={"model": "h100-sxm-80gb", "perNode": count}))).image.classes[0]
        for count in (8, 4)
    )
    names = [one.name for one in eight.extensions]
    assert names == [
        "siderolabs/nvidia-container-toolkit-production",
        "siderolabs/nvidia-fabricmanager-production",
        "siderolabs/nvidia-open-gpu-kernel-modules-production",
    ]
    assert not any("fabricmanager" in one.name for one in four.extensions)


def test_the_driver_is_the_one_of_branch_and_point_release() -> None:
    versions = {
        (talos, track): good(document(inventory=pool(talosVersion=talos, image={"driverTrack": track}))).image.classes[
            0
        ]
        for talos in ("v1.13.0", "v1.13.9")
        for track in ("production", "lts")
    }
    assert {key: one.driver_version for key, one in versions.items()} == {
        ("v1.13.0", "production"): "595.58.03",
        ("v1.13.0", "lts"): "580.126.20",
        ("v1.13.9", "production"): "595.91.07",
        ("v1.13.9", "lts"): "580.178.04",
    }


def test_the_patch_takes_the_form_that_the_release_reads() -> None:
    old, new = (good(document(inventory=pool(talosVersion=talos))).image.classes[0] for talos in ("v1.13.9", "v1.14.0"))
    first = list(yaml.safe_load_all(old.patch))
    assert len(first) == 1
    assert [one["name"] for one in first[0]["machine"]["kernel"]["modules"]] == [
        "nvidia",
        "nvidia_drm",
        "nvidia_modeset",
        "nvidia_uvm",
    ]
    labels = {"gpu-platform/gpu-model": "h100-sxm-80gb", "gpu-platform/pool": "h100"}
    assert first[0]["machine"]["install"]["image"] == old.boot.installer
    assert first[0]["machine"]["nodeLabels"] == labels
    node, *modules = yaml.safe_load_all(new.patch)
    assert (node["kind"], node["labels"]) == ("KubeNodeConfig", labels)
    assert [(one["kind"], one["name"]) for one in modules] == [
        ("KernelModuleConfig", name) for name in ("nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm")
    ]


def test_kernel_arguments_make_grub_nodes_read_the_images_own() -> None:
    one = good(document(inventory=pool(image={"kernelArgs": ["iommu=pt"]}))).image.classes[0]
    assert "extraKernelArgs:\n        - iommu=pt\n" in one.schematic
    assert next(yaml.safe_load_all(one.patch))["machine"]["install"]["grubUseUKICmdline"] is True


def test_a_node_of_another_release_gets_a_class_of_its_own_and_the_same_schematic() -> None:
    nodes = {"gpu-01": {}, "gpu-02": {"talosVersion": "v1.13.8"}}
    plan = good(document(inventory=pool(nodes=nodes)))
    assert [one.name for one in plan.image.classes] == ["h100", "h100-v1.13.8"]
    assert len({one.schematic_id for one in plan.image.classes}) == 1
    assert {node.name: node.image_class for node in plan.nodes} == {"gpu-01": "h100", "gpu-02": "h100-v1.13.8"}


@pytest.mark.parametrize(
    ("state", "boots"), [("planned", False), ("accepting", True), ("active", True), ("retired", False)]
)
def test_node_state_decides_whether_an_image_is_made(state: str, boots: bool) -> None:
    plan = good(document(inventory=pool(nodes={"gpu-01": {"state": state}})))
    assert bool(plan.image.classes) is boots


def test_taints_reach_the_patch_and_the_tolerations_without_losing_the_default() -> None:
    taints = [{"key": "nvidia.com/gpu", "value": "present"}, {"key": "example.com/team", "value": "a"}]
    plan = good(document(inventory=pool(taints=taints)))
    registered = yaml.safe_load(plan.image.classes[0].patch)["machine"]["kubelet"]["extraConfig"]["registerWithTaints"]
    assert [one["key"] for one in registered] == ["nvidia.com/gpu", "example.com/team"]
    for release in plan.gpu_operator.releases:
        where = release.values["worker"] if release.key == "nfd" else release.values["daemonsets"]
        assert where["tolerations"] == [
            {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
            {"key": "example.com/team", "operator": "Equal", "value": "a", "effect": "NoSchedule"},
        ]


def test_an_existing_operator_is_left_alone_and_its_values_are_asked_for() -> None:
    plan = good(document(operators={"gpu-operator": {"manage": "existing", "version": "v26.7.0"}}))
    assert [release.key for release in plan.gpu_operator.releases] == ["nfd"]
    existing = next(one for one in plan.operators if one.name == "gpu-operator")
    assert existing.required_values["hostPaths"] == {"driverInstallDir": "/usr/local"}


def test_phase_image_plans_no_object_of_the_cluster() -> None:
    plan = good(document(cluster={"name": "lab", "talosVersion": "v1.13.9", "phase": "image"}))
    assert plan.gpu_operator == Part()
    assert plan.cluster.kubeconfig.kind == "none"
    assert [one.part for one in plan.off] == ["gpuOperator", "rdmaFabric", "trainingQueue"]


def test_only_a_disposable_cluster_loses_namespaces_and_operators_on_destroy() -> None:
    cluster = {"name": "lab", "talosVersion": "v1.13.9"}
    for disposable in (True, False):
        part = good(document(cluster={**cluster, "disposable": disposable})).gpu_operator
        assert {one.retain for one in part.manifests if one.body["kind"] == "Namespace"} == {not disposable}
        assert {one.protect for one in part.releases} == {not disposable}


@settings(max_examples=50, deadline=None)
@given(names=st.lists(st.from_regex(r"[a-z]{1,6}-[0-9]{2}", fullmatch=True), min_size=2, unique=True), index=st.data())
def test_adding_or_removing_a_node_changes_nothing_but_that_node(names: list[str], index: st.DataObject) -> None:
    gone = index.draw(st.sampled_from(names))
    before, after = (
        good(document(inventory=pool(nodes=nodes))) for nodes in (names, [name for name in names if name != gone])
    )
    assert [node for node in before.nodes if node.name != gone] == list(after.nodes)
    assert before.image == after.image
    assert before.gpu_operator == after.gpu_operator


def test_two_contributions_that_disagree_are_named_with_both_owners() -> None:
    merged, conflicts = merge(
        [Contribution("driver", sysctls={"a": "1"}), Contribution("fabric", sysctls={"a": "2", "b": "3"})]
    )
    assert merged.sysctls == {"a": "1", "b": "3"}
    assert [(one.setting, one.owners, one.values) for one in conflicts] == [
        ("sysctls.a", ("driver", "fabric"), ("1", "2"))
    ]
