"""Declared jobs that could never start: no queue, too few cards, uncounted resources, too little time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning import inventory
from gpu_platform.planning.training.config import excluded
from gpu_platform.planning.training.jobs import shapes, within
from gpu_platform.planning.training.metal import metal, pools
from gpu_platform.planning.training.queues import specs
from gpu_platform.planning.training.rules_gangs import gang_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.planning.training.jobs import Shape
    from gpu_platform.planning.training.queues import Spec
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Job, Training


def job_findings(settings: Settings, training: Training) -> Iterator[Finding]:
    """Yield jobs of unknown queues, beyond their quota, slower than allowed, with resources that nobody counts."""
    found = specs(settings)
    by_name = {one.name: one for one in found}
    for name, job in training.jobs.items():
        if job.queue not in by_name:
            fix = did_you_mean(job.queue, by_name)
            yield finding("QUEUE-023", f"training.jobs.{name}.queue", f"there is no queue {job.queue}", fix)
        yield from _slow(f"training.jobs.{name}", job, training.start_timeout_minutes)
    every = shapes(settings, found)
    for one in every:
        yield from _fits(settings, one, by_name[one.queue])
        yield from _covered(settings, one, training.jobs[one.name])
    yield from gang_findings(settings, training, every, by_name)


def _slow(path: str, job: Job, limit: int) -> Iterator[Finding]:
    if job.start_minutes >= limit:
        message = (
            f"its pods need {job.start_minutes} minutes to be ready, and after {limit} "
            "a gang that is not ready gives its cards back, again and again"
        )
        fix = f"write training.startTimeoutMinutes: {job.start_minutes + 10} or more"
        yield finding("QUEUE-024", f"{path}.startMinutes", message, fix)


def _fits(settings: Settings, one: Shape, spec: Spec) -> Iterator[Finding]:
    path, each = f"training.jobs.{one.name}", inventory.per_node(pools(settings)[one.pool])
    if one.cards > each:
        message = f"{one.cards} cards on a node, and nodes of pool {one.pool} have {each}"
        yield finding("QUEUE-005", f"{path}.gpusPerNode", message, f"write {each} or fewer, and more nodes")
        return
    most, borrow = within(spec, one.pool), spec.borrow or 0
    if one.total > most and metal(settings, one.pool):
        has = f"{most - borrow} of pool {one.pool}{f' and may borrow {borrow}' if borrow else ''}"
        message = f"it needs {one.total} cards at once, and queue {one.queue} has {has}: it never starts"
        rule = "QUEUE-025" if spec.purpose == "scavenger" else "QUEUE-005"
        yield finding(rule, f"{path}.nodes", message, f"make it smaller, or give the queue {one.total} cards")


def _covered(settings: Settings, one: Shape, job: Job) -> Iterator[Finding]:
    """What is neither counted nor left out on purpose makes a job inadmissible (AI-Hypercomputer/xpk#603)."""
    known, out = metal(settings, one.pool), excluded(settings)
    for resource in job.resources:
        if resource not in known and not any(resource.startswith(prefix) for prefix in out):
            message = f"Kueue never admits such a job: {resource} is neither counted in pool {one.pool} nor left out"
            fix = f"leave it out; counted are {', '.join(known) or 'none'}, left out of quota {', '.join(out)}"
            yield finding("QUEUE-026", f"training.jobs.{one.name}.resources.{resource}", message, fix)
