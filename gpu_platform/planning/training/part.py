"""What the component registers: Kueue, levels, flavors, queues, priorities, each after what it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning.fabric import part as fabric
from gpu_platform.planning.model import Manifest, Part
from gpu_platform.planning.operators import releases
from gpu_platform.planning.operators.installation import installation, installed
from gpu_platform.planning.training import guard, keep, queues, topology
from gpu_platform.planning.training.metal import present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.planning.training.queues import Spec
    from gpu_platform.settings.root import Settings

PART = "training-queue"
KEPT = "flavors-in-use"


def plan_part(settings: Settings) -> Part:
    """Return everything that this stack installs for queues; nothing where nobody has one."""
    if not present(settings) or settings.operators is None:
        return Part()
    after, every = installed(settings, PART), queues.specs(settings)
    used = queues.pools_of(every)
    items = installation(settings, PART, _namespaces(settings, every))
    policy, binding = keep.objects()
    items += [Manifest(f"{KEPT}-policy", policy), Manifest(f"{KEPT}-binding", binding, (f"{KEPT}-policy",))]
    levels = topology.topologies(settings, set(used))
    items += [Manifest(_topology(name), body, after) for name, body in levels.items()]
    for pool in used:
        body = topology.flavor(settings, pool)
        level = body["spec"].get("topologyName")
        items.append(Manifest(_flavor(settings, pool), body, (*after, *([_topology(level)] if level else []))))
    for name, value in queues.priorities(settings).items():
        items.append(Manifest(f"{name}-priority", queues.priority_class(name, value), after))
    items += [Manifest(_cohort(name), body, after) for name, body in queues.cohorts(every).items()]
    made = set(_made(settings, every))
    for one in every:
        items += _queue(settings, one, made)
    guarded = guard.objects(settings, settings.training) if settings.training else []
    # Last: nobody is refused before there is a queue to be in.
    there = tuple(one.key for one in items if one.key.endswith("-local-queue"))
    items += [
        Manifest(key, body, there if key.endswith("-policy") else (key.replace("-binding", "-policy"),))
        for key, body in guarded
    ]
    return Part(tuple(items))


def _queue(settings: Settings, one: Spec, made: set[str]) -> Iterator[Manifest]:
    key = f"{one.name}-queue"
    flavors = (_flavor(settings, pool) for pool in one.quota)
    # The policy watches over them from their first moment to their last.
    before = (f"{KEPT}-binding", *flavors, *([_cohort(one.cohort)] if one.cohort else []))
    yield Manifest(key, queues.cluster_queue(settings, one), before)
    for body in queues.local_queues(one):
        space = body["metadata"]["namespace"]
        after = (key, *([releases.namespace_key(space)] if space in made else []))
        yield Manifest(f"{space}-{one.name}-local-queue", body, after)


def _namespaces(settings: Settings, every: tuple[Spec, ...]) -> tuple[str, ...]:
    """Return the namespaces of queues that this component makes: when asked, those that the fabric does not make."""
    if settings.training is None or not settings.training.create_namespaces:
        return ()
    theirs = fabric.namespaces(settings)
    return tuple(dict.fromkeys(name for one in every for name in one.namespaces if name not in theirs))


def _made(settings: Settings, every: tuple[Spec, ...]) -> tuple[str, ...]:
    return (*fabric.namespaces(settings), *_namespaces(settings, every))


def _topology(name: str) -> str:
    return f"{name}-topology"


def _cohort(name: str) -> str:
    return f"{name}-cohort"


def _flavor(settings: Settings, pool: str) -> str:
    return f"{topology.flavor_name(settings, pool)}-flavor"
