"""The queues as data, as outputs and reports show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class QueuePlan:
    """One queue: its cards by pool and resource, whom it serves, and what may happen to its jobs.

    `preemptible_by` names the queues that may end its jobs to have their own cards back; `largest` is the most nodes
    that a job may have, `bound` how long the largest declared gang waits for others once it is first in line.
    """

    name: str
    purpose: str
    namespaces: tuple[str, ...]
    quota: dict[str, dict[str, int]]
    cohort: str | None
    borrow: int
    lend: int
    strategy: str
    hold: str
    largest: int
    preemptible_by: tuple[str, ...]
    bound: str


@dataclass(frozen=True)
class JobPlan:
    """One declared shape of a job: where it runs, and what its pods say of topology."""

    name: str
    queue: str
    pool: str
    nodes: int
    gpus_per_node: int
    annotations: dict[str, str]


@dataclass(frozen=True)
class FlavorPlan:
    """The nodes that a quota stands for; nothing of it can be changed in place, so that its name has a generation.

    `within` packs jobs of up to `leaf` nodes, `beyond` larger ones; both are annotations of pods.
    """

    name: str
    labels: dict[str, str]
    tolerations: tuple[dict[str, str], ...]
    topology: str | None
    levels: tuple[str, ...]
    cards: int
    unclaimed: int
    leaf: int
    within: dict[str, str]
    beyond: dict[str, str]

    def packed(self, nodes: int) -> dict[str, str]:
        """Return the annotations of the pods of a job of this many nodes; none for one node."""
        return {} if nodes < 2 else self.within if nodes <= self.leaf else self.beyond


@dataclass(frozen=True)
class LentPlan:
    """Cards of models that train while models sleep: `lent` at most, taken back from jobs of `victims` alone.

    `grace_seconds` is what such a job has to save its work before its cards are a model's again.
    """

    floor: int
    warm: int
    lent: int
    grace_seconds: int
    victims: tuple[str, ...]


@dataclass(frozen=True)
class QueuesPlan:
    """All queues; resources are `covered` by quota, or `excluded` from it by prefix, on purpose."""

    queues: tuple[QueuePlan, ...]
    jobs: tuple[JobPlan, ...]
    priorities: dict[str, int]
    flavors: dict[str, FlavorPlan]
    lent: dict[str, LentPlan]
    covered: tuple[str, ...]
    excluded: tuple[str, ...]
    device_classes: dict[str, str]
    guard: str

    def to_json(self) -> dict[str, Any]:
        """Return the queues for machines, by name."""
        from dataclasses import asdict

        found = asdict(self)
        for key in ("queues", "jobs"):
            found[key] = {one.pop("name"): one for one in found[key]}
        return found
