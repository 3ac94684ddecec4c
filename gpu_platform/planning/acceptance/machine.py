"""What accepts one machine before work runs on it: cards, memory, NVLink, rails, limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.acceptance import choose, objects, thresholds
from gpu_platform.planning.acceptance.fabric import asked

if TYPE_CHECKING:
    from gpu_platform.planning.model import FabricPool, NodePlan, Plan

DEADLINE = 3600
# A machine under acceptance or in quarantine is cordoned, and has whatever taint somebody gave it besides.
EVERYTHING = [{"operator": "Exists"}]
# Where there is no fabric, there is no pool's patch with a namespace to go with it.
ELSEWHERE = "default"


def accept(plan: Plan, name: str) -> tuple[dict[str, Any], ...]:
    """Return the objects that accept one machine; raises AcceptanceError."""
    node = choose.machine(plan, name)
    pools = plan.fabric.pools if plan.fabric else ()
    pool = next((one for one in pools if one.name == node.pool), None)
    space = plan.fabric.namespaces[0] if plan.fabric and pool else ELSEWHERE
    called = objects.name("accept", name)
    threshold = thresholds.inside(node.gpu_model or "", node.gpu_count)
    command = ["python3", f"{objects.DIRECTORY}/accept.py", f"--gpus={node.gpu_count}", *asked(threshold, pool)]
    template = objects.template(
        _patch(node, pool), called, command, {}, affinity=objects.pinned(name), tolerations=EVERYTHING
    )
    return (
        objects.config_map(called, space, "accept", "all_reduce"),
        objects.job(called, space, threshold.reason, template, DEADLINE),
    )


def _patch(node: NodePlan, pool: FabricPool | None) -> dict[str, Any]:
    """Return the pool's patch without its selector, since the pod is pinned; where there are no rails, our own."""
    if pool:
        spec = {key: value for key, value in pool.patch["spec"].items() if key != "nodeSelector"}
        return {**pool.patch, "spec": spec}
    container = {
        "name": "*",
        "resources": {"limits": {choose.RESOURCE: str(node.gpu_count)}},
        "env": [],
        "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}],  # noqa: S108 - NCCL's, not ours
    }
    return {"spec": {"containers": [container], "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory"}}]}}
