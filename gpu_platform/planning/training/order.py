"""How long a gang waits once it is first in line, and whose jobs may be ended for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_platform.planning.training.jobs import Shape
    from gpu_platform.planning.training.queues import Spec
    from gpu_platform.settings.training import Job


def preemptible_by(one: Spec, every: tuple[Spec, ...]) -> tuple[str, ...]:
    """Return the queues that may end jobs of this one: those of its cohort that take back what is theirs.

    Nobody takes anything from a queue that stays within its own quota (kueue preemption.go, candidates borrow).
    """
    if one.cohort is None or not one.borrow:
        return ()
    return tuple(
        other.name
        for other in every
        if other is not one and other.cohort == one.cohort and other.preemption["reclaimWithinCohort"] != "Never"
    )


def bound(one: Spec, every: tuple[Shape, ...], jobs: dict[str, Job]) -> str:
    """Return in words how long the largest declared gang of a queue waits for others once it is first in line."""
    gangs = [shape for shape in every if shape.queue == one.name and shape.nodes > 1]
    if not gangs:
        return "no gang is declared for it"
    gang = max(gangs, key=lambda shape: shape.total)
    who = f"gang {gang.name} of {gang.nodes} nodes"
    if one.strategy == "BestEffortFIFO":
        return f"{who} waits without end while smaller jobs come: they overtake it (BestEffortFIFO)"
    if gang.total > max(one.quota[gang.pool].values(), default=0):
        return f"{who} waits without end while others use their own cards, of which it needs some"
    # Who uses cards of this queue is pushed aside; who has got them by its own quota, or its own jobs, is waited for.
    before = [shape.name for shape in every if shape.queue == one.name]
    if silent := [name for name in before if jobs[name].longest_hours is None]:
        return f"{who} waits for the longest job before it: state longestHours of {', '.join(silent)} to know it"
    hours = max(jobs[name].longest_hours or 0 for name in before)
    return f"{who} waits {hours:g} h at most once it is first in line, as long as its queue's longest job runs"
