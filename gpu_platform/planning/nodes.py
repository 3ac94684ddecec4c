"""Every node as all parts of the platform see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning import devices, inventory, labels, partitions
from gpu_platform.planning.mig import nodes
from gpu_platform.planning.model import NodePlan
from gpu_platform.planning.operators.tolerations import tolerations
from gpu_platform.planning.sharing import configs

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings


def plan_nodes(settings: Settings) -> tuple[NodePlan, ...]:
    """Return every node of the inventory, in the order of the stack file; needs section inventory."""
    found = settings.inventory
    assert found is not None  # noqa: S101 - a missing section is an error finding, and then nothing is planned
    return tuple(
        NodePlan(
            name=node_name,
            pool=name,
            state=node.state,
            image_class=inventory.image_class(settings, name, pool, node)
            if inventory.state(node)["image"] and pool.os == "talos"
            else None,
            talos_version=inventory.talos_version(settings, pool, node),
            gpu_model=pool.gpu.model if pool.gpu else None,
            gpu_count=inventory.per_node(pool),
            rack=node.rack,
            leaf=node.leaf,
            labels=labels.of_node(name, pool, node),
            mig_layout=nodes.chosen(pool, node),
            mig_config=nodes.config(settings, pool, node),
            allocation=pool.allocation,
            sharing=configs.chosen(pool, node),
            partition=partition(pool, node),
            resources=devices.resources(settings, pool, node),
            devices=devices.classes(settings, pool, node),
            tolerations=tuple(admitted(pool)),
        )
        for name, pool in found.pools.items()
        for node_name, node in pool.nodes.items()
    )


def admitted(pool: Pool) -> list[dict[str, str]]:
    """Return what a pod tolerates to be let onto the pool's nodes: its taints, and the one that vendors recommend."""
    vendor = inventory.card(pool).get("vendor")
    resource = facts.table("vendors")[vendor]["resource"] if vendor else None
    usual = [{"key": resource, "operator": "Exists", "effect": "NoSchedule"}] if resource else []
    return tolerations([pool], *usual)


def partition(pool: Pool, node: Node) -> str | None:
    """Return how a node's AMD cards are partitioned, such as CPX/NPS4; None where nobody speaks of it."""
    one = partitions.chosen(pool, node)
    return "/".join(partitions.pair(one)) if one else None
