"""Declared shapes of jobs: where they run, how their pods are packed, and whether they can ever start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.planning.training import quota
from gpu_platform.planning.training.metal import leaves, pools
from gpu_platform.planning.training.topology import LEAF, levels, topology_name

if TYPE_CHECKING:
    from gpu_platform.planning.training.model import QueuePlan
    from gpu_platform.planning.training.queues import Spec
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Job


@dataclass(frozen=True)
class Shape:
    """A declared job on the pool where it fits first; cards are those of each node."""

    name: str
    queue: str
    pool: str
    nodes: int
    cards: int

    @property
    def total(self) -> int:
        """All cards that it takes."""
        return self.nodes * self.cards


def shapes(settings: Settings, specs: tuple[Spec, ...]) -> tuple[Shape, ...]:
    """Return the declared jobs whose queue is known, in the order of the stack file."""
    by_name = {one.name: one for one in specs}
    return tuple(
        _shape(settings, name, job, by_name[job.queue])
        for name, job in (settings.training.jobs.items() if settings.training else ())
        if job.queue in by_name and by_name[job.queue].quota
    )


def _shape(settings: Settings, name: str, job: Job, spec: Spec) -> Shape:
    found = [
        Shape(name, spec.name, pool, job.nodes, job.gpus_per_node or inventory.per_node(pools(settings)[pool]))
        for pool in spec.quota
    ]
    return next((one for one in found if one.total <= within(spec, one.pool)), found[0])


def within(spec: Spec | QueuePlan, pool: str) -> int:
    """Return the most cards of a pool that a job of a queue can have: what is its own, and what it may borrow."""
    return max(spec.quota[pool].values(), default=0) + (spec.borrow or 0)


def largest_nodes(settings: Settings, spec: Spec) -> int:
    """Return the most whole nodes that one job of a queue can have."""
    found = (within(spec, pool) // inventory.per_node(pools(settings)[pool]) for pool in spec.quota)
    return max(found, default=0)


def shared(settings: Settings, pool: str) -> bool:
    """Tell whether jobs of several queues stand on a pool's nodes."""
    lent = settings.training is not None and pool in settings.training.lend
    return lent or len(quota.of_pool(settings, pool)) > 1


def packing(settings: Settings, name: str, nodes: int, wish: str | None = None) -> dict[str, str]:
    """Return the annotation with which a job of this many nodes is packed best, or as it is wished.

    Required at the leaf while one leaf has as many nodes and the queue has the pool to itself, else preferred: a job
    that requires more than there is never starts, and quota keeps no leaf free of the jobs of others.
    """
    pool = pools(settings)[name]
    if topology_name(pool) is None or LEAF not in levels(pool) or nodes < 2 or wish == "none":
        return {}
    labels = facts.table("kueue")["labels"]
    fits = nodes <= max(leaves(pool).values(), default=0) and not shared(settings, name)
    return {labels[wish or ("required" if fits else "preferred")]: LEAF}
