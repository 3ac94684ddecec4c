"""The contract of the queues: what a job says to be in one, and what it gets there."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gpu_platform.outputs.base import Contract


class QueueOutput(Contract):
    """One queue: a LocalQueue of its name in each namespace; quota by pool and resource, in cards.

    `labels` put a job into it, `largest_nodes` is the most whole nodes of one job, `bound` says how long the largest
    declared gang waits for others, `preemptible_by` names the queues that may end jobs that stand on what is lent.
    """

    purpose: Literal["training", "inference", "scavenger"]
    namespaces: list[str]
    labels: dict[str, str]
    quota: dict[str, dict[str, int]]
    cohort: str | None = None
    borrow: int = 0
    lend: int = 0
    strategy: Literal["StrictFIFO", "BestEffortFIFO"]
    hold: Literal["no", "hold", "drain"] = "no"
    largest_nodes: int
    preemptible_by: list[str] = Field(default_factory=list)
    bound: str


class JobOutput(Contract):
    """A declared shape of a job, and the annotations of its pods."""

    queue: str
    pool: str
    nodes: int
    gpus_per_node: int
    annotations: dict[str, str] = Field(default_factory=dict)


class FlavorOutput(Contract):
    """The nodes of a pool as queues count them: `cards` of active nodes, `unclaimed` of no queue.

    A job of two to `leaf_nodes` nodes is packed by the annotation `within_leaf`, a larger one by `beyond_leaf`.
    """

    name: str
    labels: dict[str, str]
    tolerations: list[dict[str, str]] = Field(default_factory=list)
    topology: str | None = None
    levels: list[str] = Field(default_factory=list)
    cards: int
    unclaimed: int
    leaf_nodes: int
    within_leaf: dict[str, str] = Field(default_factory=dict)
    beyond_leaf: dict[str, str] = Field(default_factory=dict)

    def annotations(self, nodes: int) -> dict[str, str]:
        """Return the annotations for the pods of a job of this many nodes: required or preferred, or none for one."""
        if nodes < 2:
            return {}
        return dict(self.within_leaf if nodes <= self.leaf_nodes else self.beyond_leaf)


class LentOutput(Contract):
    """Cards that train while models sleep: `lent` of `floor`; who wakes ends jobs of `victims` alone.

    Such a job has `grace_seconds` to save its work, as terminationGracePeriodSeconds of its pods.
    """

    floor: int
    warm: int
    lent: int
    grace_seconds: int
    victims: list[str]


class TrainingOutput(Contract):
    """Everybody's queues; resources are counted (`covered_resources`) or left out by prefix, on purpose."""

    queues: dict[str, QueueOutput]
    jobs: dict[str, JobOutput] = Field(default_factory=dict)
    priority_label: str
    priorities: dict[str, int]
    flavors: dict[str, FlavorOutput]
    lent: dict[str, LentOutput] = Field(default_factory=dict)
    covered_resources: list[str]
    excluded_prefixes: list[str]
    device_classes: dict[str, str] = Field(default_factory=dict)
    guard: Literal["enforce", "audit", "off"]


def values(found: dict[str, Any], labels: dict[str, str]) -> dict[str, Any]:
    """Return the values of TrainingOutput from a QueuesPlan's data and the names of Kueue's labels."""
    queues = {
        name: {
            **one,
            "labels": {labels["queue"]: name},
            "largest_nodes": one["largest"],
        }
        for name, one in found["queues"].items()
    }
    flavors = {
        name: {**one, "leaf_nodes": one["leaf"], "within_leaf": one["within"], "beyond_leaf": one["beyond"]}
        for name, one in found["flavors"].items()
    }
    return {
        **found,
        "queues": queues,
        "flavors": flavors,
        "priority_label": labels["priority"],
        "covered_resources": found["covered"],
        "excluded_prefixes": found["excluded"],
    }
