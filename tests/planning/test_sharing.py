"""Cards that several pods get: names, counts, labels, and configurations that never change their meaning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stack_files import document, good, pool

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu_platform.planning.model import Plan

DEV = {"dev-4": {"mode": "timeSlicing", "replicas": 4}}
LAYOUTS = {"small": ["1g.10gb"] * 4 + ["3g.40gb"]}


def planned(ways: Mapping[str, Any], layouts: Mapping[str, Any] | None = None, **keys: Any) -> Plan:
    mig = {"mig": {"layouts": dict(layouts)}} if layouts else {}
    return good(document(inventory=pool(**keys), gpu={"sharing": dict(ways), **mig}))


def configs(plan: Plan) -> dict[str, Any]:
    found = [one.body["data"] for one in plan.gpu_operator.manifests if one.key == "sharing-configs"]
    return {key: yaml.safe_load(text) for data in found for key, text in data.items()}


def asks(plan: Plan) -> dict[str, str]:
    patches = [one.body["metadata"] for one in plan.gpu_operator.manifests if one.key.endswith("-sharing")]
    return {one["name"]: one["labels"]["nvidia.com/device-plugin.config"] for one in patches}


def values(plan: Plan) -> dict[str, Any]:
    found: dict[str, Any] = next(one for one in plan.gpu_operator.releases if one.key == "gpu-operator").values
    return found


def test_a_node_shares_as_it_says_as_its_pool_says_or_not_at_all() -> None:
    nodes = {
        "n1": {},
        "n2": {"sharing": {"config": None}},
        "n3": {"state": "accepting"},
        "n4": {"state": "quarantined", "reason": "x"},
        "n5": {"state": "planned"},
    }
    plan = planned(DEV, nodes=nodes, sharing={"config": "dev-4"})
    key = asks(plan)["n1"]
    assert asks(plan) == {"n1": key, "n4": key}
    counts = {one.name: one.resources for one in plan.nodes}
    assert counts == {
        "n1": {"nvidia.com/gpu": 32},
        "n2": {"nvidia.com/gpu": 8},
        "n3": {"nvidia.com/gpu": 8},
        "n4": {"nvidia.com/gpu": 32},
        "n5": {},
    }
    assert configs(plan)[key]["sharing"]["timeSlicing"]["resources"] == [{"name": "nvidia.com/gpu", "replicas": 4}]


def test_nodes_without_a_label_share_nothing_and_the_operator_is_told_so() -> None:
    """Several configurations without a default would leave it to chance (NVIDIA/k8s-device-plugin README)."""
    plan = planned({**DEV, "dev-8": {"mode": "timeSlicing", "replicas": 8}}, nodes=["n1"])
    config = values(plan)["devicePlugin"]["config"]
    assert configs(plan)[config["default"]] == {"version": "v1"}
    assert asks(plan) == {}
    assert "config" not in values(planned({}, nodes=["n1"]))["devicePlugin"]


def test_slices_are_shared_under_their_own_names() -> None:
    ways = {
        "all": {"mode": "timeSlicing", "replicas": 2},
        "some": {"mode": "timeSlicing", "resources": {"mig-1g.10gb": 3}, "rename": True},
    }
    nodes = {"n1": {"sharing": {"config": "all"}}, "n2": {"sharing": {"config": "some"}}}
    plan = planned(ways, LAYOUTS, nodes=nodes, mig={"layout": "small"})
    counts = {one.name: one.resources for one in plan.nodes}
    assert counts["n1"] == {"nvidia.com/mig-1g.10gb": 64, "nvidia.com/mig-3g.40gb": 16}
    assert counts["n2"] == {"nvidia.com/mig-1g.10gb.shared": 96, "nvidia.com/mig-3g.40gb": 8}


def test_mps_shares_whole_cards_and_refuses_two_shares_to_one_pod() -> None:
    plan = planned({"m": {"mode": "mps", "replicas": 3, "rename": True}}, nodes=["n1"], sharing={"config": "m"})
    assert plan.nodes[0].resources == {"nvidia.com/gpu.shared": 24}
    mps = configs(plan)[asks(plan)["n1"]]["sharing"]["mps"]
    assert mps["failRequestsGreaterThanOne"] is True
    assert mps["renameByDefault"] is True


WAYS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]),
    st.fixed_dictionaries(
        {"mode": st.sampled_from(["timeSlicing", "mps"]), "replicas": st.integers(2, 9)},
        optional={"rename": st.booleans(), "failRequestsGreaterThanOne": st.booleans()},
    ),
    min_size=1,
)


@settings(max_examples=60, deadline=None)
@given(before=WAYS, after=WAYS)
def test_no_label_ever_changes_its_meaning(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Whatever is added, edited or removed: a key that both hold says the same, and other data has another name."""
    old, new = (planned(one, nodes=["n1"], sharing={"config": next(iter(one))}) for one in (before, after))
    assert all(configs(old)[key] == configs(new)[key] for key in set(configs(old)) & set(configs(new)))
    assert set(asks(new).values()) <= set(configs(new))
    names = {values(one)["devicePlugin"]["config"]["name"] for one in (old, new)}
    assert (len(names) == 1) == (configs(old) == configs(new))


@settings(max_examples=30, deadline=None)
@given(before=WAYS, more=WAYS)
def test_a_way_that_is_added_relabels_nobody(before: dict[str, Any], more: dict[str, Any]) -> None:
    used = next(iter(before))
    old, new = (planned(one, nodes=["n1"], sharing={"config": used}) for one in (before, {**more, **before}))
    assert asks(old) == asks(new)


@pytest.mark.parametrize("strategy", ["mixed", "single"])
def test_under_strategy_single_shared_slices_are_called_gpus(strategy: str) -> None:
    gpu = {"sharing": DEV, "mig": {"layouts": {"sevens": ["1g.10gb"] * 7}, "strategy": strategy}}
    keys = document(inventory=pool(mig={"layout": "sevens"}, sharing={"config": "dev-4"}), gpu=gpu)
    expected = {"mixed": {"nvidia.com/mig-1g.10gb": 224}, "single": {"nvidia.com/gpu": 224}}
    assert good(keys).nodes[0].resources == expected[strategy]
