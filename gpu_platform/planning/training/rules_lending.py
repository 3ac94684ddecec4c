"""Lending that cannot hurt: whole cards only, and nobody but scavengers stands on what is lent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import finding
from gpu_platform.planning.training import quota
from gpu_platform.planning.training.metal import metal, pools, whole_cards

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Lending, Training


def lending_findings(settings: Settings, training: Training) -> Iterator[Finding]:
    """Yield pools that cannot be lent, floors beyond the metal, and teams that would stand on what is lent."""
    for pool, lent in training.lend.items():
        if pool in pools(settings):
            yield from _pool(settings, pool, lent)
            yield from _teams(settings, pool, lent)


def _pool(settings: Settings, pool: str, lent: Lending) -> Iterator[Finding]:
    path, found = f"training.lend.{pool}", pools(settings)[pool]
    if not whole_cards(settings, pool):
        what = "claims, which topology does not see" if found.allocation == "dra" else "parts of cards"
        message = f"pool {pool} hands out {what}: a slice that is free is no card that a job can have"
        yield finding("QUEUE-009", path, message, "lend a pool of whole cards with allocation: devicePlugin")
    total = sum(metal(settings, pool).values())
    if lent.floor > total and not quota.of_pool(settings, pool):
        message = f"{lent.floor} cards belong to models, and the active nodes of pool {pool} have {total}"
        yield finding("QUEUE-002", f"{path}.floor", message, f"write {total} or fewer")
    if lent.warm > lent.floor:
        message = f"{lent.warm} cards are never lent, of {lent.floor} that belong to models"
        yield finding("QUEUE-010", f"{path}.warm", message, f"write {lent.floor} or fewer")
    if twice := sorted(set(lent.namespaces) & set(lent.scavengers)):
        message = f"namespace {twice[0]} holds models and jobs that end when a model wakes"
        yield finding("QUEUE-010", f"{path}.scavengers", message, "give scavengers a namespace of their own")


def _teams(settings: Settings, pool: str, lent: Lending) -> Iterator[Finding]:
    """A gang is evicted whole: were one card of it lent, a waking model would end all of it."""
    for name, queue in quota.of_pool(settings, pool).items():
        if queue.borrow and lent.floor > lent.warm:
            message = (
                f"queue {name} may borrow {queue.borrow} cards of pool {pool}, where models lend theirs: "
                "a model that wakes would end its jobs whole"
            )
            fix = f"leave borrow out: jobs that may be ended go into queue {pool}-scavenger"
            yield finding("QUEUE-021", f"training.queues.{name}.borrow", message, fix)
