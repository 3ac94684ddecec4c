"""A queue that was drained may lose what it stood on; one that was not may not."""

from __future__ import annotations

from typing import Any

from gpu_platform.outputs import TrainingOutput, outputs_of
from gpu_platform.reports.queue_changes import impossible
from tests.stack_files import document, good, pool

CLUSTER = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.36.3"}
LEND = {"floor": 8, "namespaces": "models", "scavengers": "scavengers"}


def training(*, taints: Any = (), hold: str = "no", **more: Any) -> TrainingOutput:
    queues = {"research": {"pools": "h100", "namespaces": "team", "hold": hold}}
    keys = document(
        cluster=CLUSTER, inventory=pool(nodes=["n1", "n2"], taints=list(taints)), training={"queues": queues, **more}
    )
    found = outputs_of(good(keys)).training
    assert found is not None
    return found


def test_a_drained_queue_may_lose_its_flavor() -> None:
    after = training(taints=[{"key": "team", "value": "x"}], generations={"h100": 2})
    assert [one.rule for one in impossible(training(), after)] == ["QUEUE-030"]
    assert list(impossible(training(hold="drain"), after)) == []


def test_a_drained_queue_may_go() -> None:
    assert [one.path for one in impossible(training(), None)] == ["training.queues.research"]
    assert list(impossible(training(hold="drain"), None)) == []


def test_what_is_lent_is_taken_back_after_both_of_its_queues_were_drained() -> None:
    lent = training(lend={"h100": LEND})
    assert [one.path for one in impossible(lent, training())] == ["training.lend.h100", "training.lend.h100"]
    assert list(impossible(training(lend={"h100": {**LEND, "hold": "drain"}}), training())) == []


def test_more_queues_or_other_shares_change_nothing_that_jobs_stand_on() -> None:
    assert list(impossible(None, training())) == []
    assert list(impossible(training(), training(lend={"h100": LEND}))) == []
