"""Quota against the metal: neither more than there is, nor cards that nobody can use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.training import quota
from gpu_platform.planning.training.metal import metal, pools

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Training


def quota_findings(settings: Settings, training: Training) -> Iterator[Finding]:
    """Yield queues that have more cards than there are, cards that no queue has, and numbers that fit nothing."""
    for pool in pools(settings):
        if quota.of_pool(settings, pool):
            yield from _sum(settings, pool)
    for name, queue in training.queues.items():
        path = f"training.queues.{name}"
        if queue.share is not None and queue.gpus is not None:
            fix = "leave one of the two out"
            yield finding("QUEUE-017", f"{path}.share", "both share and gpus: which one is its quota", fix)
        for pool in queue.pools:
            yield from _number(settings, path, pool, queue.gpus)
        if queue.cohort and len(queue.pools) == 1 and queue.lend and queue.pools[0] in pools(settings):
            own = max(quota.quotas(settings, queue.pools[0])[name].values(), default=0)
            if queue.lend > own:
                message = f"it lends {queue.lend} cards and has {own} of pool {queue.pools[0]}"
                yield finding("QUEUE-018", f"{path}.lend", message, f"write {own} or fewer")


def _sum(settings: Settings, pool: str) -> Iterator[Finding]:
    queues, amounts = quota.of_pool(settings, pool), quota.quotas(settings, pool)
    stated = {name: one.gpus for name, one in queues.items() if one.gpus is not None}
    floor, asked = quota.floor(settings, pool), quota.floor(settings, pool) + sum(stated.values())
    for resource, total in metal(settings, pool).items():
        if asked > total:
            parts = [f"{floor} of models (training.lend.{pool}.floor)"] if floor else []
            told = ", ".join([*parts, *(f"{count} of queue {name}" for name, count in stated.items())])
            message = f"{asked} {resource} are given away in pool {pool} ({told}); its active nodes have {total}"
            path = f"training.queues.{next(iter(stated))}.gpus" if stated else f"training.lend.{pool}.floor"
            yield finding("QUEUE-002", path, message, f"take {asked - total} away from one of them")
            return
        if left := total - floor - sum(one[resource] for one in amounts.values()):
            message = f"{left} of {total} {resource} of pool {pool} belong to no queue, so that no job ever gets them"
            path = f"training.queues.{next(iter(stated))}.gpus"
            yield finding("QUEUE-003", path, message, f"give {left} more to one queue")
            return
    empty = [name for name, one in amounts.items() if one and not any(one.values()) and name not in stated]
    if empty:
        message = f"nothing of pool {pool} is left for queue {empty[0]}: others have all of it"
        yield finding(
            "QUEUE-019", f"training.queues.{empty[0]}", message, "give the others less, or leave the queue out"
        )


def _number(settings: Settings, path: str, pool: str, gpus: int | None) -> Iterator[Finding]:
    if gpus is None or pool not in pools(settings):
        return
    resources = list(metal(settings, pool))
    if len(resources) > 1:
        message = f"gpus: {gpus} says nothing where pool {pool} hands out {', '.join(resources)}"
        yield finding("QUEUE-017", f"{path}.gpus", message, "write share, which parts each of them")
    each = inventory.per_node(pools(settings)[pool])
    if len(resources) == 1 and gpus % each:
        message = (
            f"{gpus} cards are {gpus // each} nodes of {each} and {gpus % each} that no job of whole nodes can use"
        )
        yield finding("QUEUE-020", f"{path}.gpus", message, f"write a multiple of {each} if its jobs take whole nodes")
