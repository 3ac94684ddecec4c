"""What is wrong with the queues: names, order, preemption, what others own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning.fabric import claims
from gpu_platform.planning.fabric.modes import present as on_fabric
from gpu_platform.planning.operators.installation import owners
from gpu_platform.planning.training.metal import counted, metal, pools, present
from gpu_platform.planning.training.queues import pools_of, specs
from gpu_platform.planning.training.rules_jobs import job_findings
from gpu_platform.planning.training.rules_lending import lending_findings
from gpu_platform.planning.training.rules_quota import quota_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Queue, Training


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with section training."""
    training = settings.training
    if training is None or settings.inventory is None:
        return
    if not present(settings):
        if training.model_fields_set:
            fix = "write queues: with a name, its pools and its namespaces, or leave the section out"
            yield finding("QUEUE-016", "training", "nobody has a queue: nothing is made of this section", fix)
        return
    yield from _pools(settings, training)
    yield from _namespaces(settings, training)
    for name, queue in training.queues.items():
        yield from _order(f"training.queues.{name}", queue)
        yield from _preemption(f"training.queues.{name}", queue, training)
    yield from _guarded(settings, training)
    yield from _leaves(settings)
    yield from _rails(settings)
    yield from quota_findings(settings, training)
    yield from lending_findings(settings, training)
    yield from job_findings(settings, training)


def _pools(settings: Settings, training: Training) -> Iterator[Finding]:
    """Yield pools that nobody knows, or that have nothing to hand out."""
    known = pools(settings)
    named = [
        (f"training.queues.{name}.pools[{index}]", pool)
        for name, queue in training.queues.items()
        for index, pool in enumerate(queue.pools)
    ]
    named += [(f"training.lend.{pool}", pool) for pool in training.lend]
    named += [(f"training.generations.{pool}", pool) for pool in training.generations]
    plain = settings.inventory.pools if settings.inventory else {}
    for path, pool in named:
        if pool not in known:
            what = "has no accelerators" if pool in plain else "is not in the inventory"
            fix = did_you_mean(pool, known, otherwise="" if known else "give a pool gpu:")
            yield finding("QUEUE-001", path, f"pool {pool} {what}", fix)
        elif not counted(known[pool]) and not path.startswith("training.generations"):
            message = f"no node of pool {pool} is active, so that its flavor matches none and jobs there wait"
            yield finding(
                "QUEUE-014", path, message, "set state: active where nodes have joined, or leave the pool out"
            )


def _namespaces(settings: Settings, training: Training) -> Iterator[Finding]:
    """Yield namespaces whose pods must never wait for a queue: operators' (Kueue would not start) and models'."""
    taken = {**owners(settings), **({"default": "Kubernetes"} if training.create_namespaces else {})}
    stated = [(f"training.queues.{name}.namespaces", queue.namespaces) for name, queue in training.queues.items()]
    for pool, lent in training.lend.items():
        stated += [
            (f"training.lend.{pool}.namespaces", lent.namespaces),
            (f"training.lend.{pool}.scavengers", lent.scavengers),
        ]
    for path, names in stated:
        for index, name in enumerate(names):
            if name in taken:
                why = "createNamespaces would make it anew" if name == "default" else "its pods would wait for cards"
                message = f"namespace {name} belongs to {taken[name]}: {why}"
                yield finding("QUEUE-015", f"{path}[{index}]", message, "name a namespace of jobs")
            if names.index(name) != index:
                fix = "keep one of the two"
                yield finding("QUEUE-015", f"{path}[{index}]", f"namespace {name} stands here twice", fix)
    models = {name: pool for pool, lent in training.lend.items() for name in lent.namespaces}
    queue = training.queues.get("default")
    for index, name in enumerate(queue.namespaces if queue else ()):
        if name in models:
            message = (
                f"in namespace {name}, where models of pool {models[name]} live, every pod would be in queue default"
            )
            fix = "give the queue another name: Kueue puts whatever names no queue into the one called default"
            yield finding("QUEUE-011", f"training.queues.default.namespaces[{index}]", message, fix)


def _order(path: str, queue: Queue) -> Iterator[Finding]:
    if queue.strategy == "StrictFIFO" and len(queue.pools) > 1:
        message = (
            f"a strict queue over {len(queue.pools)} pools ({', '.join(queue.pools)}): a job that waits for the one "
            "keeps jobs from the other, however free that is (kueue#8309)"
        )
        fix = "make a queue for each pool, or write strategy: BestEffortFIFO"
        yield finding("QUEUE-007", f"{path}.strategy", message, fix)
    if not queue.cohort or len(queue.pools) > 1:
        why = "cohort: false" if not queue.cohort else f"{len(queue.pools)} pools, and a cohort is of one"
        for key in ("borrow", "lend"):
            if getattr(queue, key):
                message = f"it is in no cohort ({why}), so that there is nobody to {key} with"
                yield finding(
                    "QUEUE-012", f"{path}.{key}", message, f"leave {key} out, or let it join one pool's cohort"
                )


def _preemption(path: str, queue: Queue, training: Training) -> Iterator[Finding]:
    wish = queue.preemption
    if wish.reclaim == "Never" and wish.borrow != "Never":
        message = (
            f"reclaim: Never with borrow: {wish.borrow}: Kueue refuses who would push others aside but not take back"
        )
        yield finding("QUEUE-013", f"{path}.preemption", message, "write borrow: Never, or reclaim: Any")
    if training.fair_sharing and wish.borrow != "Never":
        message = f"borrow: {wish.borrow} has no effect under fairSharing, which settles it by weight"
        yield finding("QUEUE-013", f"{path}.preemption.borrow", message, "leave it out, or write fairSharing: false")


def _guarded(settings: Settings, training: Training) -> Iterator[Finding]:
    """Yield pools without a queue: a resource has one name in the whole cluster, so that the guard covers them, too."""
    used = pools_of(specs(settings))
    if training.guard != "enforce" or training.exempt or not used:
        return
    for pool in (one for one in pools(settings) if one not in used and metal(settings, one)):
        message = (
            f"pool {pool} has no queue, and the guard refuses {', '.join(metal(settings, pool))} "
            "to pods in all namespaces that have none"
        )
        fix = "name the namespaces of its pods in exempt, give it a queue, or write guard: audit"
        yield finding("QUEUE-033", "training.guard", message, fix)


def _leaves(settings: Settings) -> Iterator[Finding]:
    """Yield nodes without a leaf among nodes with one: topology does not see them (kueue#5039)."""
    for pool in pools_of(specs(settings)):
        nodes = counted(pools(settings)[pool])
        without = [name for name, node in nodes if not node.leaf]
        if 0 < len(without) < len(nodes):
            seen = next(name for name, node in nodes if node.leaf)
            message = f"{', '.join(without)} state no leaf, and {seen} does: no gang would ever be placed on them"
            fix = "state leaf: for every node of the pool, or for none"
            yield finding("QUEUE-004", f"inventory.pools.{pool}.nodes.{without[0]}", message, fix)


def _rails(settings: Settings) -> Iterator[Finding]:
    if on_fabric(settings) and claims.claimed(settings):
        message = "rails are claimed (mode dra), and Kueue would refuse every pod whose claim it has no quota for"
        fix = "write another mode of the fabric, or leave section training out"
        yield finding("QUEUE-022", "fabric.mode", message, fix)
