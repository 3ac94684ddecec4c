"""ClusterQueues, LocalQueues and priorities, as Kueue reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.training import quota
from gpu_platform.planning.training.metal import metal, pools
from gpu_platform.planning.training.objects import kueue
from gpu_platform.planning.training.topology import flavor_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Preemption

NEVER = {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never", "borrowWithinCohort": {"policy": "Never"}}
STOP = {"no": "None", "hold": "Hold", "drain": "HoldAndDrain"}


@dataclass(frozen=True)
class Spec:
    """One ClusterQueue: quota by pool and resource; `borrow` and `lend` are cards, None outside a cohort."""

    name: str
    purpose: str
    namespaces: tuple[str, ...]
    quota: dict[str, dict[str, int]]
    cohort: str | None
    borrow: int | None
    lend: int | None
    strategy: str
    preemption: dict[str, Any]
    hold: str = "no"
    weight: int | None = None


def specs(settings: Settings) -> tuple[Spec, ...]:
    """Return every ClusterQueue: teams' in the order of the stack file, then what is lent, by pool."""
    return (*_teams(settings), *_lent(settings))


def _teams(settings: Settings) -> Iterator[Spec]:
    known = pools(settings)
    training = settings.training
    for name, queue in training.queues.items() if training else ():
        names = [one for one in queue.pools if one in known]
        # A cohort is of one pool: elsewhere a card that is lent is another card.
        joined = queue.cohort and len(names) == 1
        yield Spec(
            name=name,
            purpose="training",
            namespaces=queue.namespaces,
            quota={one: quota.quotas(settings, one)[name] for one in names},
            cohort=names[0] if joined else None,
            borrow=queue.borrow if joined else None,
            lend=(queue.lend or 0) if joined else None,
            strategy=queue.strategy,
            preemption=_preemption(queue.preemption, fair=bool(training and training.fair_sharing)),
            hold=queue.hold,
            # What is borrowed is shared in the proportion of what one has.
            weight=(queue.share or 1) if training and training.fair_sharing and joined else None,
        )


def _lent(settings: Settings) -> Iterator[Spec]:
    """Yield what models and scavengers have of each pool that is lent: only scavengers stand on what is borrowed."""
    for pool, lent in settings.training.lend.items() if settings.training else ():
        if pool not in pools(settings):
            continue
        resources = list(metal(settings, pool))
        reclaim = {**NEVER, "withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"}
        floor = {pool: dict.fromkeys(resources, lent.floor)}
        yield Spec(
            f"{pool}-inference",
            "inference",
            lent.namespaces,
            floor,
            pool,
            0,
            lent.floor - lent.warm,
            "BestEffortFIFO",
            reclaim,
            lent.hold,
        )
        nothing = {pool: dict.fromkeys(resources, 0)}
        yield Spec(
            f"{pool}-scavenger",
            "scavenger",
            lent.scavengers,
            nothing,
            pool,
            lent.floor - lent.warm,
            None,
            "BestEffortFIFO",
            NEVER,
            lent.hold,
        )


def _preemption(stated: Preemption, *, fair: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "withinClusterQueue": stated.within_queue,
        "reclaimWithinCohort": stated.reclaim,
    }
    # It has no effect under fair sharing, and Kueue warns of it.
    return found if fair else {**found, "borrowWithinCohort": {"policy": stated.borrow}}


def pools_of(every: tuple[Spec, ...]) -> tuple[str, ...]:
    """Return the pools that queues have cards of, in the order of the queues."""
    return tuple(dict.fromkeys(pool for one in every for pool in one.quota))


def cohorts(every: tuple[Spec, ...]) -> dict[str, dict[str, Any]]:
    """Return the cohorts by name: one a pool, with nothing of its own."""
    return {one.cohort: kueue("Cohort", one.cohort, {}) for one in every if one.cohort}


def cluster_queue(settings: Settings, one: Spec) -> dict[str, Any]:
    """Return the ClusterQueue; quantities are texts in canonical form, or every `up` would show them as changed."""
    resources = sorted({name for amounts in one.quota.values() for name in amounts})
    flavors = [
        {
            "name": flavor_name(settings, pool),
            "resources": [_resource(one, name, amounts.get(name, 0)) for name in resources],
        }
        for pool, amounts in one.quota.items()
    ]
    spec: dict[str, Any] = {
        "queueingStrategy": one.strategy,
        "namespaceSelector": {"matchExpressions": [_named(one.namespaces)]},
        "resourceGroups": [{"coveredResources": resources, "flavors": flavors}],
        "preemption": one.preemption,
        "stopPolicy": STOP[one.hold],
        **({"cohortName": one.cohort} if one.cohort else {}),
        **({"fairSharing": {"weight": str(one.weight)}} if one.weight else {}),
    }
    return kueue("ClusterQueue", one.name, spec)


def _resource(one: Spec, name: str, amount: int) -> dict[str, str]:
    found = {"name": name, "nominalQuota": str(amount)}
    if one.cohort:
        found |= {"borrowingLimit": str(one.borrow)} if one.borrow is not None else {}
        found |= {"lendingLimit": str(one.lend)} if one.lend is not None else {}
    return found


def local_queues(one: Spec) -> list[dict[str, Any]]:
    """Return the LocalQueue of each namespace: named alike, so that jobs move between namespaces unchanged."""
    found = []
    for namespace in one.namespaces:
        body = kueue("LocalQueue", one.name, {"clusterQueue": one.name})
        found.append({**body, "metadata": {**body["metadata"], "namespace": namespace}})
    return found


def priorities(settings: Settings) -> dict[str, int]:
    """Return every priority by name."""
    training = settings.training
    known = facts.table("kueue")["priorities"]
    lent = {name: known[name] for name in ("inference", "scavenger")} if training and training.lend else {}
    return {**(training.priorities if training else {}), **lent}


def priority_class(name: str, value: int) -> dict[str, Any]:
    """Return a WorkloadPriorityClass, whose value stands beside its metadata."""
    body = kueue("WorkloadPriorityClass", name, {})
    del body["spec"]
    return {**body, "value": value, "description": f"priority {value} of jobs in queues; pods have none of it"}


def _named(namespaces: tuple[str, ...]) -> dict[str, Any]:
    return {"key": "kubernetes.io/metadata.name", "operator": "In", "values": sorted(namespaces)}
