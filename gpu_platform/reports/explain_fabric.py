"""The fabric explained: its rails, one a line, and which nodes of each pool hang on which leaf."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gpu_platform.reports.explain import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from gpu_platform.planning.model import FabricPlan, NodePlan, Plan, Rail

NO_LEAF = "leaf not stated"
_COLUMNS = {
    "pci": "PCI",
    "hca": "RDMA device",
    "interface": "interface",
    "network": "network",
    "resource": "resource",
    "subnet": "subnet",
}


def as_json(plan: Plan, fabric: FabricPlan) -> dict[str, Any]:
    """Return the fabric for machines."""
    return {
        "mode": fabric.mode,
        "capacity": fabric.capacity,
        "namespaces": list(fabric.namespaces),
        "pools": {
            pool.name: {
                "fabric": pool.fabric,
                "rails": [asdict(rail) for rail in pool.rails],
                "nodes": {
                    node.name: {"state": node.state, "rack": node.rack, "leaf": node.leaf}
                    for node in on_pool(plan, pool.name)
                },
            }
            for pool in fabric.pools
        },
    }


def for_people(plan: Plan, fabric: FabricPlan) -> Iterator[RenderableType]:
    """Yield what a terminal shows: the mode, then rails and leaves of each pool."""
    yield table("fabric", [("mode", fabric.mode), ("capacity", capacity(fabric))])
    for pool in fabric.pools:
        nodes = on_pool(plan, pool.name)
        yield table(f"rails of {pool.name} ({pool.fabric})", _columns(pool.rails))
        rows = [(leaf or NO_LEAF, ", ".join(_named(one) for one in found)) for leaf, found in by_leaf(nodes).items()]
        yield table(f"leaves of {pool.name} ({states(nodes)})", rows)


def capacity(fabric: FabricPlan) -> str:
    """Return in words how many nodes find addresses."""
    if fabric.capacity is None:
        return "pods get no addresses on the rails"
    return f"{fabric.capacity} nodes find addresses on each rail"


def states(nodes: Iterable[NodePlan]) -> str:
    """Return in words how many nodes there are and in which states."""
    found = Counter(node.state for node in nodes)
    others = [state for state in found if state != "active"]
    told = [f"{count(found.total())}", *(f"{found[state]} {state}" for state in ("active", *sorted(others)))]
    return ", ".join(told)


def count(nodes: int) -> str:
    """Return a number of nodes in words."""
    return f"{nodes} node{'' if nodes == 1 else 's'}"


def on_pool(plan: Plan, pool: str) -> list[NodePlan]:
    """Return the nodes of a pool, by rack and then by name, those without a rack last."""
    nodes = [node for node in plan.nodes if node.pool == pool]
    return sorted(nodes, key=lambda node: (not node.rack, natural(node.rack or ""), natural(node.name)))


def by_leaf(nodes: Iterable[NodePlan]) -> dict[str | None, list[NodePlan]]:
    """Return nodes by leaf in the order of the leaves' names, those without a leaf last."""
    found: dict[str | None, list[NodePlan]] = {}
    for node in nodes:
        found.setdefault(node.leaf or None, []).append(node)
    return {leaf: found[leaf] for leaf in sorted(found, key=lambda leaf: (leaf is None, natural(leaf or "")))}


def natural(name: str) -> tuple[list[str | int], str]:
    """Return a key that puts gpu-2 before gpu-10."""
    parts: list[str | int] = [int(one) if one.isdecimal() else one for one in re.split(r"(\d+)", name)]
    return parts, name


def _named(node: NodePlan) -> str:
    return node.name if node.state == "active" else f"{node.name} ({node.state})"


def _columns(rails: tuple[Rail, ...]) -> list[tuple[str, str]]:
    """Return rails as aligned rows below a head; a column in which nothing stands is left out."""
    shown = [key for key in _COLUMNS if any(getattr(rail, key) for rail in rails)]
    cells = [[_COLUMNS[key] for key in shown]]
    cells += [[str(getattr(rail, key) or "-") for key in shown] for rail in rails]
    widths = [max(len(row[at]) for row in cells) for at in range(len(shown))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return list(zip(["rail", *(str(rail.index) for rail in rails)], lines, strict=True))
