"""What a change of how cards are handed out means to each node."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_platform.outputs import PlatformOutputs, outputs_of
from gpu_platform.reports.node_changes import grouped, node_changes
from tests.stack_files import document, good

NONE: frozenset[str] = frozenset()
GPU: dict[str, Any] = {
    "sharing": {"dev": {"mode": "timeSlicing", "replicas": 4}},
    "mig": {"layouts": {"a": ["7g.80gb"], "b": ["4g.40gb", "3g.40gb"]}},
}
CLUSTER = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.35.6"}
DRAIN = "drain it first"


def outputs(model: str = "h100-sxm-80gb", **keys: Any) -> PlatformOutputs:
    inventory = {"pools": {"p": {"gpu": {"model": model}, "nodes": ["n1"], **keys}}}
    return outputs_of(good(document(cluster=CLUSTER, inventory=inventory, gpu=GPU)))


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ({}, {"allocation": "dra"}, f"n1 (8 GPUs): its cards go from the device plugin to claims (DRA): {DRAIN}"),
        ({"allocation": "dra"}, {}, f"n1 (8 GPUs): its cards go from claims (DRA) to the device plugin: {DRAIN}"),
        ({}, {"sharing": {"config": "dev"}}, "n1 (8 GPUs): its cards are shared anew, not → dev: its device plugin"),
        ({"sharing": {"config": "dev"}}, {}, "n1 (8 GPUs): its cards are shared anew, dev → not: its device plugin"),
        (
            {"allocation": "dra", "mig": {"layout": "a"}},
            {"allocation": "dra", "mig": {"layout": "b"}},
            f"n1 (8 GPUs): its cards are cut anew, a → b: {DRAIN}, then `kubectl delete pod",
        ),
    ],
)
def test_each_change_says_what_has_to_be_done(before: dict[str, Any], after: dict[str, Any], says: str) -> None:
    (line,) = grouped(node_changes(outputs(**before), outputs(**after), NONE))
    assert line.startswith(says)
    assert node_changes(outputs(**after), outputs(**after), NONE) == ()


def test_amd_cards_are_tainted_while_they_are_partitioned() -> None:
    whole, cut = (outputs("mi300x-192gb", partition=one) for one in ({}, {"compute": "CPX"}))
    (line,) = grouped(node_changes(whole, cut, NONE))
    assert "SPX/NPS1 → CPX/NPS1: taint it amd-dcm=up:NoExecute before" in line


def test_a_node_that_becomes_active_gets_its_layout_and_one_that_is_quarantined_keeps_it() -> None:
    def node(state: str) -> PlatformOutputs:
        return outputs(nodes={"n1": {"state": state, "reason": "x"}}, mig={"layout": "a"})

    (line,) = grouped(node_changes(node("accepting"), node("active"), NONE))
    assert "its cards are cut anew, whole → a" in line
    (line,) = grouped(node_changes(node("active"), node("quarantined"), NONE))
    assert line == "n1 (8 GPUs): goes from active to quarantined"


def test_nodes_of_another_system_are_told_too() -> None:
    one, other = (
        outputs("mi300x-192gb", os="other", partition={"compute": "CPX", "memory": memory})
        for memory in ("NPS1", "NPS4")
    )
    (line,) = grouped(node_changes(one, other, NONE))
    assert line.startswith("n1 (8 GPUs): its cards are partitioned anew, CPX/NPS1 → CPX/NPS4")
