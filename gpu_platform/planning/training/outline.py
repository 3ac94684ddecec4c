"""The queues as outputs and reports show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning.training import config, metal, order, quota
from gpu_platform.planning.training.jobs import largest_nodes, packing, shapes
from gpu_platform.planning.training.metal import leaves, pools, present
from gpu_platform.planning.training.model import FlavorPlan, JobPlan, LentPlan, QueuePlan, QueuesPlan
from gpu_platform.planning.training.queues import pools_of, priorities, specs
from gpu_platform.planning.training.topology import flavor, flavor_name, levels

if TYPE_CHECKING:
    from gpu_platform.planning.training.jobs import Shape
    from gpu_platform.planning.training.queues import Spec
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Lending, Training


def plan_queues(settings: Settings) -> QueuesPlan | None:
    """Return the queues as outputs and reports show them; None where nobody has one."""
    training = settings.training
    if training is None or not present(settings):
        return None
    every = specs(settings)
    jobs = shapes(settings, every)
    used = pools_of(every)
    return QueuesPlan(
        queues=tuple(_queue(settings, training, one, every, jobs) for one in every),
        jobs=tuple(_job(settings, training, one) for one in jobs),
        priorities=priorities(settings),
        flavors={pool: _flavor(settings, pool) for pool in used},
        lent={pool: _lent(pool, lent, every) for pool, lent in training.lend.items()},
        covered=tuple(sorted({name for pool in used for name in metal.metal(settings, pool)})),
        excluded=tuple(config.excluded(settings)),
        device_classes=metal.classes(settings),
        guard=training.guard,
    )


def _queue(
    settings: Settings, training: Training, one: Spec, every: tuple[Spec, ...], jobs: tuple[Shape, ...]
) -> QueuePlan:
    return QueuePlan(
        name=one.name,
        purpose=one.purpose,
        namespaces=one.namespaces,
        quota=one.quota,
        cohort=one.cohort,
        borrow=one.borrow or 0,
        lend=one.lend or 0,
        strategy=one.strategy,
        hold=one.hold,
        largest=largest_nodes(settings, one),
        preemptible_by=order.preemptible_by(one, every),
        bound=order.bound(one, jobs, training.jobs),
    )


def _job(settings: Settings, training: Training, one: Shape) -> JobPlan:
    annotations = packing(settings, one.pool, one.nodes, training.jobs[one.name].topology)
    return JobPlan(one.name, one.queue, one.pool, one.nodes, one.cards, annotations)


def _flavor(settings: Settings, pool: str) -> FlavorPlan:
    spec, found = flavor(settings, pool)["spec"], pools(settings)[pool]
    topology, biggest = spec.get("topologyName"), max(leaves(found).values(), default=0)
    return FlavorPlan(
        name=flavor_name(settings, pool),
        labels=spec["nodeLabels"],
        tolerations=tuple(spec["tolerations"]),
        topology=topology,
        levels=levels(found) if topology else (),
        cards=sum(metal.metal(settings, pool).values()),
        unclaimed=quota.unclaimed(settings, pool),
        leaf=biggest,
        within=packing(settings, pool, min(2, biggest)),
        beyond=packing(settings, pool, max(2, biggest + 1)),
    )


def _lent(pool: str, lent: Lending, every: tuple[Spec, ...]) -> LentPlan:
    models = f"{pool}-inference"
    victims = tuple(one.name for one in every if models in order.preemptible_by(one, every))
    return LentPlan(lent.floor, lent.warm, lent.floor - lent.warm, lent.grace_seconds, victims)
