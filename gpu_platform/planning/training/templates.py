"""Jobs to start from: queue, priority, packing, cards and rails of a pool, in the kinds that people use."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.findings import did_you_mean
from gpu_platform.planning.fabric import workload
from gpu_platform.planning.labels import PREFIX
from gpu_platform.planning.training.jobs import within

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_platform.planning.model import Plan
    from gpu_platform.planning.training.model import QueuePlan, QueuesPlan

# No name of an image: a job that is sent as it is fails at once, and says why.
IMAGE, CONTAINER = "REGISTRY/IMAGE:TAG", "node"


class TemplateError(Exception):
    """One sentence: why such a job could not run."""


def template(plan: Plan, kind: str, queue: str | None, pool: str | None = None, nodes: int | None = None) -> Any:
    """Return a job of KINDS in a queue over this many whole nodes, by default as many as it can have under one leaf.

    Nothing is tolerated here: Kueue adds what the flavor tolerates. Raises TemplateError.
    """
    if plan.queues is None:
        raise TemplateError("this stack has no queue: write section training")
    if kind not in KINDS:
        raise TemplateError(f"there is no kind {kind} here: {did_you_mean(kind, KINDS)}")
    one, pool = _queue(plan.queues, queue, pool)
    each = max(node.gpu_count for node in plan.nodes if node.pool == pool)
    most = within(one, pool) // each
    count = nodes or max(min(most, plan.queues.flavors[pool].leaf or most), 1)
    if count > most:
        raise TemplateError(f"{count} nodes of {each} cards are more than queue {one.name} can have of {pool}: {most}")
    labels = facts.table("kueue")["labels"]
    priority = _priority(plan.queues, one)
    marks = {labels["queue"]: one.name, **({labels["priority"]: priority} if priority else {})}
    metadata = {"name": f"{one.name}-{count}", "namespace": one.namespaces[0], "labels": marks}
    spec = KINDS[kind](_pod(plan, one, pool, count), count, each)
    return {"apiVersion": facts.table("kueue")["kinds"][kind], "kind": kind, "metadata": metadata, "spec": spec}


def _queue(plan: QueuesPlan, queue: str | None, pool: str | None) -> tuple[QueuePlan, str]:
    found = {one.name: one for one in plan.queues if one.purpose != "inference"}
    name = queue if queue is not None or len(found) != 1 else next(iter(found))
    if name not in found:
        what = "several queues" if name is None else f"no queue {name} of jobs"
        raise TemplateError(f"there is {what} in this stack: write --queue with one of {', '.join(found)}")
    chosen = pool or next(iter(found[name].quota))
    if chosen not in found[name].quota:
        raise TemplateError(f"queue {name} has nothing of pool {chosen}: it has {', '.join(found[name].quota)}")
    return found[name], chosen


def _priority(plan: QueuesPlan, one: QueuePlan) -> str | None:
    """Return the lowest priority of teams: nobody is pushed aside by who took this as it is; None without any."""
    if one.purpose == "scavenger":
        return "scavenger"
    teams = [name for name in plan.priorities if name not in facts.table("kueue")["priorities"]]
    return min(teams, key=plan.priorities.__getitem__, default=None)


def _pod(plan: Plan, one: QueuePlan, pool: str, nodes: int) -> dict[str, Any]:
    rails = next((found for found in plan.fabric.pools if found.name == pool), None) if plan.fabric else None
    found = copy.deepcopy(rails.patch) if rails else _alone(plan, pool)
    space, attached = one.namespaces[0], plan.fabric.namespaces if plan.fabric else ()
    if rails and (rails.networks or rails.claim_template) and space not in attached:
        raise TemplateError(f"pods of namespace {space} reach no rail: add it to fabric.attachIn")
    container = found["spec"]["containers"][0]
    container |= {"name": CONTAINER, "image": IMAGE}
    found["spec"]["restartPolicy"] = "Never"
    if one.purpose == "scavenger" and plan.queues:
        found["spec"]["terminationGracePeriodSeconds"] = plan.queues.lent[pool].grace_seconds
    packed = plan.queues.flavors[pool].packed(nodes) if plan.queues else {}
    said = {**found.get("metadata", {}).get("annotations", {}), **packed}
    return {**({"metadata": {"annotations": said}} if said else {}), "spec": found["spec"]}


def _alone(plan: Plan, pool: str) -> dict[str, Any]:
    """Return the pod of a pool without rails."""
    # Who is no active node hands nothing out that a queue counts.
    node = next((one for one in plan.nodes if one.pool == pool and one.state == "active"), None)
    if node is None:
        raise TemplateError(f"no node of pool {pool} is active: nothing could run there")
    if len(node.resources) != 1 or sum(node.resources.values()) != node.gpu_count:
        raise TemplateError(
            f"pool {pool} hands out no whole cards by count: say in the job which slice or claim it wants"
        )
    limits = {name: str(count) for name, count in node.resources.items()}
    container = {
        "resources": {"limits": limits},
        "volumeMounts": [workload.SHARED_MEMORY],
    }
    found = {"nodeSelector": {f"{PREFIX}/pool": pool}, "containers": [container], "volumes": [workload.IN_MEMORY]}
    return copy.deepcopy({"spec": found})


def _job_spec(pod: dict[str, Any], nodes: int) -> dict[str, Any]:
    return {"completions": nodes, "parallelism": nodes, "completionMode": "Indexed", "backoffLimit": 0, "template": pod}


def _job(pod: dict[str, Any], nodes: int, _: int) -> dict[str, Any]:
    # Kueue suspends it, too; this one does not start where Kueue is not asked.
    return {"suspend": True, **_job_spec(pod, nodes)}


def _job_set(pod: dict[str, Any], nodes: int, _: int) -> dict[str, Any]:
    jobs = [{"name": "workers", "replicas": 1, "template": {"spec": _job_spec(pod, nodes)}}]
    return {"suspend": True, "replicatedJobs": jobs}


def _mpi_job(pod: dict[str, Any], nodes: int, cards: int) -> dict[str, Any]:
    launcher = {"spec": {"restartPolicy": "Never", "containers": [{"name": "launcher", "image": IMAGE}]}}
    replicas = {
        "Launcher": {"replicas": 1, "template": launcher},
        "Worker": {"replicas": nodes, "template": pod},
    }
    return {"slotsPerWorker": cards, "runPolicy": {"suspend": True}, "mpiReplicaSpecs": replicas}


def _train_job(pod: dict[str, Any], nodes: int, cards: int) -> dict[str, Any]:
    container = pod["spec"]["containers"][0]
    own = {key: container.pop(key) for key in ("image", "resources")}
    inner = {key: value for key, value in pod["spec"].items() if key != "restartPolicy"}
    patched = {"name": CONTAINER, "template": {"spec": {"template": {**pod, "spec": inner}}}}
    patch = {
        "manager": f"{PREFIX}.io/render",
        "trainingRuntimeSpec": {"template": {"spec": {"replicatedJobs": [patched]}}},
    }
    return {
        "suspend": True,
        "runtimeRef": {"name": facts.table("kueue")["kinds"]["runtime"]},
        "trainer": {
            "image": own["image"],
            "numNodes": nodes,
            "numProcPerNode": cards,
            "resourcesPerNode": own["resources"],
        },
        "runtimePatches": [patch],
    }


KINDS: dict[str, Callable[[dict[str, Any], int, int], dict[str, Any]]] = {
    "Job": _job,
    "JobSet": _job_set,
    "MPIJob": _mpi_job,
    "TrainJob": _train_job,
}
