"""Which pool, which nodes: what can be measured, or one sentence that says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import did_you_mean

if TYPE_CHECKING:
    from gpu_platform.planning.model import FabricPool, NodePlan, Plan

RESOURCE = "nvidia.com/gpu"


class AcceptanceError(Exception):
    """One sentence: why nothing can be measured there."""


def fabric_pool(plan: Plan, name: str | None) -> FabricPool:
    """Return the pool of this name on the fabric, or the only one."""
    pools = {one.name: one for one in plan.fabric.pools} if plan.fabric else {}
    if not pools:
        raise AcceptanceError("no pool of this stack is on the fabric: a pool is when it says nics")
    if name in pools:
        return pools[name]
    if name is None:
        if len(pools) == 1:
            return next(iter(pools.values()))
        raise AcceptanceError(f"several pools are on the fabric: write --pool with one of {', '.join(pools)}")
    if name in {node.pool for node in plan.nodes}:
        raise AcceptanceError(f"pool {name} is not on the fabric: write --pool with one of {', '.join(pools)}")
    raise AcceptanceError(f"there is no pool {name} in this stack: {did_you_mean(name, pools)}")


def fabric_nodes(plan: Plan, pool: str, count: int | None) -> tuple[tuple[NodePlan, ...], int]:
    """Return the nodes that pods may run on, and on how many of them at once."""
    active = [one for one in plan.nodes if one.pool == pool and one.state == "active"]
    found = tuple(one for one in active if not trouble(one))
    if len(active) > 1 and len(found) < 2:
        raise AcceptanceError(next(said for one in active if (said := trouble(one))))
    if len(found) < 2:
        raise AcceptanceError(f"pool {pool} has {len(found)} active nodes: a fabric is measured between two or more")
    wanted = len(found) if count is None else count
    if not 2 <= wanted <= len(found):
        raise AcceptanceError(f"--nodes {wanted} of pool {pool} cannot be measured: write 2 to {len(found)}")
    return found, wanted


def machine(plan: Plan, name: str) -> NodePlan:
    """Return the node of this name, if a job can accept it."""
    nodes = {one.name: one for one in plan.nodes}
    if name not in nodes:
        raise AcceptanceError(f"there is no node {name} in this stack: {did_you_mean(name, nodes)}")
    node = nodes[name]
    if not facts.table("node_states")[node.state]["joined"]:
        raise AcceptanceError(f"node {name} is {node.state}, so that it is in no cluster: set state: accepting first")
    if said := trouble(node):
        raise AcceptanceError(said)
    return node


def trouble(node: NodePlan) -> str:
    """Return why no pod gets all whole cards of a node by asking for nvidia.com/gpu, else an empty text."""
    row = facts.table("gpus")[node.gpu_model] if node.gpu_model else {}
    if not row:
        return f"node {node.name} has no GPUs: there is nothing to measure"
    if row["vendor"] != "nvidia":
        return f"node {node.name} has {node.gpu_model}: this job speaks to NVIDIA cards only"
    image = facts.table("catalog")["image"]["pytorch"]
    if row["family"] in image["without"]:
        return f"node {node.name} has {node.gpu_model}: {image['repository']}:{image['version']} no longer knows it"
    if node.allocation == "dra":
        return f"the cards of node {node.name} are given by claims (allocation: dra): this job asks for {RESOURCE}"
    if node.resources != {RESOURCE: node.gpu_count}:
        kind = "cut" if node.mig_layout else "shared"
        return (
            f"the cards of node {node.name} are {kind}: this job needs them whole; state: accepting hands them out so"
        )
    return ""
