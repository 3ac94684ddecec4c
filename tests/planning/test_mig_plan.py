"""From layouts in a stack file to what the cluster gets, and what may not change under a node that asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_platform.planning import mig
from gpu_platform.planning.model import Manifest, Plan
from tests.stack_files import document, good, pool

if TYPE_CHECKING:
    from collections.abc import Mapping

SERVE = {"serve": ["3g.40gb", "2g.20gb", "1g.10gb+me", "1g.10gb"]}


def planned(layouts: Mapping[str, Any], nodes: Any, strategy: str | None = None, **keys: Any) -> Plan:
    section = {"mig": {"layouts": dict(layouts), **({"strategy": strategy} if strategy else {})}}
    return good(document(inventory=pool(nodes=nodes, **keys), gpu=section))


def asks(plan: Plan) -> dict[str, str]:
    """Return the configuration that each patched node asks for."""
    patches = [one for one in plan.gpu_operator.manifests if one.patch]
    return {one.body["metadata"]["name"]: one.body["metadata"]["labels"]["nvidia.com/mig.config"] for one in patches}


def library(plan: Plan) -> dict[str, Any]:
    """Return the configurations of the library by name."""
    (found,) = [one for one in plan.gpu_operator.manifests if one.key == "mig-layouts"]
    configs: dict[str, Any] = yaml.safe_load(found.body["data"]["config.yaml"])["mig-configs"]
    return configs


def test_a_node_asks_for_its_own_layout_its_pools_or_none() -> None:
    layouts = {**SERVE, "big": ["7g.80gb"]}
    nodes = {
        "n1": {},
        "n2": {"mig": {"layout": "big"}},
        "n3": {"mig": {"layout": None}},
        "n4": {"state": "accepting"},
        "n5": {"state": "planned"},
    }
    plan = planned(layouts, nodes, mig={"layout": "serve"})
    names = {one.name: one.config for one in plan.mig.layouts}
    assert asks(plan) == {"n1": names["serve"], "n2": names["big"]}
    resources = {one.name: one.resources for one in plan.nodes}
    assert resources["n1"] == {
        "nvidia.com/mig-1g.10gb": 8,
        "nvidia.com/mig-1g.10gb.me": 8,
        "nvidia.com/mig-2g.20gb": 8,
        "nvidia.com/mig-3g.40gb": 8,
    }
    assert resources["n2"] == {"nvidia.com/mig-7g.80gb": 8}
    assert resources["n3"] == resources["n4"] == {"nvidia.com/gpu": 8}


def test_the_library_holds_every_layout_and_whole_cards() -> None:
    configs = library(planned({**SERVE, "half": {"0-3": ["7g.80gb"], "4,5-7": []}}, ["n1"]))
    assert [name.rsplit("-", 1)[0] for name in configs] == ["all", "serve", "half"]
    assert configs["all-disabled"] == [{"devices": "all", "mig-enabled": False, "mig-devices": {}}]
    serve, half = (next(configs[name] for name in configs if name.startswith(one)) for one in ("serve", "half"))
    assert serve == [
        {
            "devices": "all",
            "mig-enabled": True,
            "mig-devices": {"3g.40gb": 1, "2g.20gb": 1, "1g.10gb+me": 1, "1g.10gb": 1},
        }
    ]
    assert half == [
        {"devices": [0, 1, 2, 3], "mig-enabled": True, "mig-devices": {"7g.80gb": 1}},
        {"devices": [4, 5, 6, 7], "mig-enabled": False, "mig-devices": {}},
    ]


def test_the_operator_mounts_that_library_and_runs_a_manager_that_works_on_talos() -> None:
    plan = planned(SERVE, ["n1"])
    values = next(one for one in plan.gpu_operator.releases if one.key == "gpu-operator").values
    assert values["mig"] == {"strategy": "mixed"}
    assert values["migManager"]["version"] == "v0.12.3-ubuntu20.04"
    assert values["migManager"]["config"] == {"name": plan.mig.config_map, "default": "all-disabled"}


def test_nodes_are_labelled_after_the_operator_and_it_comes_after_the_library() -> None:
    plan = planned(SERVE, ["n1"], mig={"layout": "serve"})
    items = plan.gpu_operator.items
    keys = [one.key for one in items]
    assert keys[2:] == ["nfd", "mig-layouts", "dcgm-counters", "gpu-operator", "n1-mig"]
    assert items[-1].after == ("gpu-operator",)
    assert "mig-layouts" in items[-2].after
    assert isinstance(items[-1], Manifest)
    assert items[-1].token == "kubernetes:core/v1:NodePatch"


def test_without_layouts_nothing_is_cut_and_no_manager_runs() -> None:
    plan = good(document())
    assert plan.mig.layouts == ()
    assert asks(plan) == {}
    values = next(one for one in plan.gpu_operator.releases if one.key == "gpu-operator").values
    assert values["migManager"] == {"enabled": False}


def test_under_strategy_single_slices_are_called_gpus() -> None:
    plan = planned({"sevens": ["1g.10gb"] * 7}, ["n1"], "single", mig={"layout": "sevens"})
    assert plan.nodes[0].resources == {"nvidia.com/gpu": 56}


LAYOUTS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.sampled_from(mig.legal("h100-sxm-80gb")).map(list), min_size=1, max_size=3
)


@settings(max_examples=60, deadline=None)
@given(before=LAYOUTS, after=LAYOUTS)
def test_no_label_ever_changes_its_meaning(before: dict[str, list[str]], after: dict[str, list[str]]) -> None:
    """Whatever is added, edited or removed: a name that both libraries hold means the same in both."""
    old, new = library(planned(before, ["n1"])), library(planned(after, ["n1"]))
    assert all(old[name] == new[name] for name in set(old) & set(new))


@settings(max_examples=30, deadline=None)
@given(before=LAYOUTS, more=LAYOUTS)
def test_a_layout_that_is_added_relabels_nobody(before: dict[str, list[str]], more: dict[str, list[str]]) -> None:
    used = next(iter(before))
    old = planned(before, ["n1", "n2"], mig={"layout": used})
    new = planned({**more, **before}, ["n1", "n2"], mig={"layout": used})
    assert asks(old) == asks(new)
    assert set(library(old)) <= set(library(new))
