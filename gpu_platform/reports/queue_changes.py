"""What a change of the stack takes away from under running jobs: flavors, queues, and their namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.outputs.training import FlavorOutput, QueueOutput, TrainingOutput


def impossible(before: TrainingOutput | None, after: TrainingOutput | None) -> Iterator[Finding]:
    """Yield what Kueue would refuse, or worse, forget: a drained queue has nothing that could be forgotten."""
    if before is None:
        return
    left = after.queues if after else {}
    for name, old in before.queues.items():
        yield from _queue(name, old, left.get(name))
    for pool, flavor in before.flavors.items():
        new = after.flavors.get(pool) if after else None
        if new:
            yield from _flavor(before, pool, flavor, new)


def _queue(name: str, old: QueueOutput, new: QueueOutput | None) -> Iterator[Finding]:
    if old.hold == "drain":
        return
    path, fix = _path(name, old), f"write hold: drain there first, `pulumi up`, wait until it is empty{_of(old)}"
    if new is None:
        message = f"queue {name} is removed while it takes jobs: those that run lose it, and it never goes away"
        yield finding("QUEUE-031", path, message, f"{fix}; then remove it")
        return
    for pool in old.quota:
        if pool not in new.quota:
            message = f"queue {name} loses pool {pool}: Kueue would forget the cards of its jobs there"
            yield finding("QUEUE-030", path, message, f"{fix}; then take the pool out")
    for space in old.namespaces:
        if space not in new.namespaces:
            message = f"queue {name} leaves namespace {space}, whose waiting jobs would wait for ever"
            yield finding("QUEUE-031", path, message, f"{fix}; then take the namespace out")


def _flavor(before: TrainingOutput, pool: str, old: FlavorOutput, new: FlavorOutput) -> Iterator[Finding]:
    path = f"training.generations.{pool}"
    changed = [key for key in ("labels", "tolerations", "topology", "levels") if getattr(old, key) != getattr(new, key)]
    if old.name == new.name:
        if changed:
            number = int(old.name.rpartition("-g")[2]) + 1 if old.name != pool else 2
            message = f"{', '.join(changed)} of flavor {old.name} cannot be changed in place"
            fix = f"write {path}: {number}, which makes a new flavor, after its queues were drained"
            yield finding("QUEUE-030", path, message, fix)
        return
    busy = [name for name, one in before.queues.items() if pool in one.quota and one.hold != "drain"]
    if busy:
        message = f"flavor {old.name} becomes {new.name} while {', '.join(busy)} may have jobs on its nodes"
        fix = "write hold: drain for them first, `pulumi up`, wait until they are empty; then change it"
        yield finding("QUEUE-030", path, message, fix)


def _path(name: str, old: QueueOutput) -> str:
    if old.purpose == "training":
        return f"training.queues.{name}"
    return f"training.lend.{name.rpartition('-')[0]}"


def _of(old: QueueOutput) -> str:
    return "" if old.purpose == "training" else " (it holds both queues of the pool: models and scavengers)"
