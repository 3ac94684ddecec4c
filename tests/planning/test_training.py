"""Queues: quota that is the metal, gangs that are packed and never starve, lending that ends scavengers alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpu_platform.outputs import outputs_of
from gpu_platform.planning import plan
from gpu_platform.planning.training.quota import split
from tests.stack_files import document, good

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan

CLUSTER = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.36.3"}
LEND = {"h100": {"floor": 16, "warm": 8, "namespaces": "models", "scavengers": "scavengers"}}


def nodes(leaves: dict[str, int]) -> dict[str, Any]:
    return {f"{leaf}-{n}": {"leaf": leaf} for leaf, count in leaves.items() for n in range(count)}


def stack(leaves: dict[str, int] | None = None, *, pool: dict[str, Any] | None = None, **training: Any) -> Any:
    of = {"gpu": {"model": "h100-sxm-80gb"}, "nodes": nodes(leaves or {"l1": 4, "l2": 4}), **(pool or {})}
    return document(cluster=CLUSTER, inventory={"pools": {"h100": of}}, training=training)


def queue(**keys: Any) -> dict[str, Any]:
    return {"pools": "h100", "namespaces": "team", **keys}


def planned(**keys: Any) -> Plan:
    return good(stack(**keys))


def objects(found: Plan, kind: str) -> dict[str, Any]:
    return {
        one.body["metadata"]["name"]: one.body for one in found.training_queue.manifests if one.body["kind"] == kind
    }


def manager(found: Plan) -> Any:
    values = next(one for one in found.training_queue.releases if one.key == "kueue").values
    return yaml.safe_load(values["managerConfig"]["controllerManagerConfigYaml"])


@given(
    st.integers(0, 5000),
    st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(1, 1000), min_size=1, max_size=8),
    st.sampled_from([1, 2, 4, 8]),
)
def test_a_split_loses_nothing_and_makes_nothing(total: int, shares: dict[str, int], unit: int) -> None:
    found = split(total, shares, unit)
    assert sum(found.values()) == total
    assert all(count >= 0 for count in found.values())
    exact = {name: total * share / sum(shares.values()) for name, share in shares.items()}
    assert all(abs(found[name] - exact[name]) < max(unit, 1) for name in shares)
    if total % unit == 0 and total // unit >= len(shares):
        assert all(count % unit == 0 for count in found.values())


def test_quota_sums_to_the_active_cards_of_the_pool() -> None:
    queues = {"a": queue(share=2), "b": queue(namespaces="b"), "c": queue(namespaces="c", gpus=8)}
    states = {**nodes({"l1": 4, "l2": 3}), "x": {"leaf": "l2", "state": "planned"}}
    found = planned(pool={"nodes": states}, queues=queues).queues
    assert found is not None
    amounts = {one.name: one.quota["h100"]["nvidia.com/gpu"] for one in found.queues}
    assert amounts == {"a": 32, "b": 16, "c": 8}
    assert (found.flavors["h100"].cards, found.flavors["h100"].unclaimed) == (56, 0)


def test_what_models_need_and_what_teams_have_is_the_pool() -> None:
    found = objects(planned(queues={"research": queue()}, lend=LEND), "ClusterQueue")
    amounts = {name: one["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0] for name, one in found.items()}
    gpu = {"name": "nvidia.com/gpu"}
    assert amounts == {
        "research": {**gpu, "nominalQuota": "48", "borrowingLimit": "0", "lendingLimit": "0"},
        "h100-inference": {**gpu, "nominalQuota": "16", "borrowingLimit": "0", "lendingLimit": "8"},
        "h100-scavenger": {**gpu, "nominalQuota": "0", "borrowingLimit": "8"},
    }


def test_a_model_that_wakes_ends_jobs_of_scavengers_alone() -> None:
    found = planned(queues={"research": queue(), "language": queue(namespaces="language")}, lend=LEND).queues
    assert found is not None
    assert found.lent["h100"].victims == ("h100-scavenger",)
    assert found.lent["h100"].lent == 8
    assert {one.name: one.preemptible_by for one in found.queues if one.purpose == "training"} == {
        "research": (),
        "language": (),
    }


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, None), (4, "required"), (5, "preferred"), (8, "preferred")],
)
def test_gangs_are_packed_under_a_leaf_that_has_room_for_them(count: int, expected: str | None) -> None:
    outputs = outputs_of(planned(queues={"research": queue()}))
    assert outputs.training is not None
    found = outputs.training.flavors["h100"].annotations(count)
    assert found == ({} if expected is None else {f"kueue.x-k8s.io/podset-{expected}-topology": "gpu-platform/leaf"})


def test_no_leaf_is_required_where_other_queues_stand_on_all_of_them() -> None:
    outputs = outputs_of(planned(queues={"research": queue(), "language": queue(namespaces="language")}))
    assert outputs.training is not None
    assert list(outputs.training.flavors["h100"].annotations(2)) == ["kueue.x-k8s.io/podset-preferred-topology"]
    assert outputs.training.queues["language"].labels == {"kueue.x-k8s.io/queue-name": "language"}


@pytest.mark.parametrize(
    ("jobs", "keys", "expected"),
    [
        ({"small": {}}, {}, "no gang"),
        ({"big": {"nodes": 8}}, {}, "state longestHours of big"),
        ({"big": {"nodes": 8, "longestHours": 12}, "small": {"longestHours": 30}}, {}, "waits 30 h at most"),
    ],
)
def test_how_long_the_largest_gang_waits(jobs: dict[str, Any], keys: dict[str, Any], expected: str) -> None:
    shapes = {name: {"queue": "research", **job} for name, job in jobs.items()}
    found = planned(queues={"research": queue(**keys)}, jobs=shapes).queues
    assert found is not None
    assert expected in found.queues[0].bound


def test_a_gang_of_scavengers_is_told_that_it_is_overtaken() -> None:
    lend = {"h100": {**LEND["h100"], "warm": 0}}
    found = planned(queues={"a": queue()}, lend=lend, jobs={"sweep": {"queue": "h100-scavenger", "nodes": 2}}).queues
    assert found is not None
    assert "they overtake it" in next(one.bound for one in found.queues if one.name == "h100-scavenger")


def test_claims_are_counted_by_their_class_and_0_17_is_told_to() -> None:
    found = planned(pool={"allocation": "dra"}, queues={"research": queue()})
    mappings = manager(found)["resources"]["deviceClassMappings"]
    assert mappings == [{"name": "gpu.nvidia.com/devices", "deviceClassNames": ["gpu.nvidia.com"]}]
    assert "topologyName" not in objects(found, "ResourceFlavor")["h100"]["spec"]
    older = stack(pool={"allocation": "dra"}, queues={"research": queue()})
    older["operators"] = {"kueue": {"version": "0.17.0"}}
    values = next(one for one in good(older).training_queue.releases if one.key == "kueue").values
    assert values["controllerManager"]["featureGates"] == [{"name": "DynamicResourceAllocation", "enabled": True}]


def test_kueue_asks_only_where_a_queue_is_and_gangs_have_time_to_start() -> None:
    found = manager(planned(queues={"research": queue()}, lend=LEND, startTimeoutMinutes=45))
    selector = found["managedJobsNamespaceSelector"]["matchExpressions"][0]
    assert selector["values"] == ["models", "scavengers", "team"]
    assert found["waitForPodsReady"]["timeout"] == "45m"


def test_a_generation_renames_the_flavor_everywhere() -> None:
    found = planned(queues={"research": queue()}, generations={"h100": 3})
    assert list(objects(found, "ResourceFlavor")) == ["h100-g3"]
    spec = objects(found, "ClusterQueue")["research"]["spec"]
    assert spec["resourceGroups"][0]["flavors"][0]["name"] == "h100-g3"


def test_a_queue_comes_after_what_it_names_and_goes_before_it() -> None:
    found = planned(queues={"research": queue()}, createNamespaces=True).training_queue
    keys = [one.key for one in found.items]
    for item in found.items:
        assert all(keys.index(key) < keys.index(item.key) for key in item.after if key in keys)
    after = {one.key: one.after for one in found.items}
    assert {"flavors-in-use-binding", "h100-flavor", "h100-cohort"} <= set(after["research-queue"])
    assert {"research-queue", "team-namespace"} <= set(after["team-research-local-queue"])


def test_a_queue_has_not_the_name_of_what_a_pool_lends() -> None:
    result = plan(stack(queues={"h100-scavenger": queue()}, lend=LEND))
    assert [one.path for one in result.findings] == ["training"]
    assert "give it another name" in str(result.findings[0])


def test_cards_that_are_stated_say_nothing_where_slices_have_two_names() -> None:
    mig = {"mig": {"layouts": {"halves": ["4g.40gb", "3g.40gb"]}}}
    keys = {**stack(pool={"mig": {"layout": "halves"}}, queues={"a": queue(gpus=8)}), "gpu": mig}
    assert "QUEUE-017" in {one.rule for one in plan(keys).findings}


def test_a_default_queue_is_fine_where_no_model_lives() -> None:
    assert planned(queues={"default": queue()}).queues is not None


def test_a_pool_that_is_lent_must_be_known() -> None:
    lend = {"h10": LEND["h100"]}
    assert [one.rule for one in plan(stack(queues={"a": queue()}, lend=lend)).findings] == ["QUEUE-001"]


def test_small_jobs_beside_a_gang_that_has_room_are_fine() -> None:
    queues = {"a": queue(), "b": queue(namespaces="b", gpus=8)}
    jobs = {"big": {"queue": "a", "nodes": 2}, "small": {"queue": "b", "gpusPerNode": 4}}
    assert [str(one) for one in plan(stack(queues=queues, jobs=jobs)).findings] == []
    fits = {"gang": {"queue": "a", "nodes": 4, "topology": "required"}}
    assert [str(one) for one in plan(stack(queues={"a": queue()}, jobs=fits)).findings] == []


def test_the_guard_leaves_operators_and_those_that_are_named_alone() -> None:
    found = planned(queues={"research": queue()}, exempt="debugging")
    policy = objects(found, "ValidatingAdmissionPolicy")["gpu-platform-guard-pods"]["spec"]
    free = policy["matchConstraints"]["namespaceSelector"]["matchExpressions"][0]
    assert free["operator"] == "NotIn"
    assert {"gpu-operator", "node-feature-discovery", "kueue-system", "kube-system", "debugging"} <= set(free["values"])
    assert list(objects(planned(queues={"a": queue()}, guard="off"), "ValidatingAdmissionPolicy")) == [
        "gpu-platform-flavors-in-use"
    ]
    audit = objects(planned(queues={"a": queue()}, guard="audit"), "ValidatingAdmissionPolicyBinding")
    assert audit["gpu-platform-guard-pods"]["spec"]["validationActions"] == ["Warn", "Audit"]


def test_what_is_borrowed_is_shared_by_weight_when_asked() -> None:
    queues = {"a": queue(share=3, borrow=8), "b": queue(namespaces="b", cohort=False)}
    found = objects(planned(queues=queues, fairSharing=True), "ClusterQueue")
    assert found["a"]["spec"]["fairSharing"] == {"weight": "3"}
    assert "borrowWithinCohort" not in found["a"]["spec"]["preemption"]
    assert "fairSharing" not in found["b"]["spec"]
    assert "fairSharing" not in objects(planned(queues=queues), "ClusterQueue")["a"]["spec"]
