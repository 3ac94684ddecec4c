"""Queues explained: what each has, who may end its jobs, how long its largest gang waits, and what models lend."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.planning.training.model import LentPlan, QueuePlan, QueuesPlan


def rows(found: QueuesPlan | None) -> Iterator[tuple[str, str]]:
    """Yield every queue and its cards, what no queue has, and what is lent."""
    if found is None:
        return
    for one in found.queues:
        yield one.name, f"{_cards(one)}, {one.strategy}{_held(one)}; {one.bound}"
    for pool, flavor in found.flavors.items():
        if flavor.unclaimed:
            yield f"no queue ({pool})", f"{flavor.unclaimed} of {flavor.cards} cards"
    for pool, lent in found.lent.items():
        yield f"lent ({pool})", _lent(lent)
    yield "counted", ", ".join(found.covered) or "nothing"
    yield "not counted", f"{', '.join(found.excluded)} (prefixes), on purpose"


def one_queue(found: QueuesPlan, one: QueuePlan) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the sections of one queue: itself, and the nodes that its quota stands for."""
    limits = f"may use {one.borrow} idle cards of others, lends {one.lend} of its own" if one.cohort else "none"
    yield (
        f"queue {one.name}",
        [
            ("for", one.purpose),
            ("cards", _cards(one)),
            ("namespaces", ", ".join(one.namespaces)),
            ("a job says", f"{facts.table('kueue')['labels']['queue']}: {one.name}"),
            ("largest job", f"{one.largest} nodes"),
            ("cohort", one.cohort or "none"),
            ("limits", limits),
            ("order", f"{one.strategy}{_held(one)}"),
            ("wait", one.bound),
            ("jobs ended by", ", ".join(one.preemptible_by) or "nobody: what it has is its own"),
            ("declared jobs", "\n".join(_jobs(found, one)) or "none"),
        ],
    )
    for pool in one.quota:
        flavor = found.flavors[pool]
        levels = " > ".join(flavor.levels) or "none: claims hide what is free"
        packed = [f"{flavor.leaf} nodes: {_said(flavor.within)}"] if flavor.within else []
        yield (
            f"flavor {flavor.name} of pool {pool}",
            [
                ("nodes", ", ".join(f"{key}={value}" for key, value in flavor.labels.items())),
                ("levels", levels),
                ("jobs of up to", "\n".join(packed) or "-"),
                ("larger jobs", _said(flavor.beyond)),
            ],
        )


def _cards(one: QueuePlan) -> str:
    amounts = [
        f"{count} {name} of {pool}" for pool, resources in one.quota.items() for name, count in resources.items()
    ]
    return ", ".join(amounts) or "nothing"


def _held(one: QueuePlan) -> str:
    return {"no": "", "hold": ", held: it starts nothing more", "drain": ", drained: what runs is ended"}[one.hold]


def _lent(lent: LentPlan) -> str:
    return (
        f"{lent.floor} cards belong to models, {lent.warm} of them are never lent; a model that wakes ends jobs of "
        f"{', '.join(lent.victims)} alone, which have {lent.grace_seconds} s to save their work"
    )


def _jobs(found: QueuesPlan, one: QueuePlan) -> Iterator[str]:
    for job in found.jobs:
        if job.queue == one.name:
            yield f"{job.name}: {job.nodes} x {job.gpus_per_node} of {job.pool}, {_said(job.annotations)}"


def _said(annotations: dict[str, str]) -> str:
    return ", ".join(f"{key}: {value}" for key, value in annotations.items()) or "no annotation"
