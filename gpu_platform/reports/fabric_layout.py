"""Where things stand in the picture of the fabric: rows of each pool, and the boxes of leaves beside their rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu_platform.reports import svg
from gpu_platform.reports.explain_fabric import NO_LEAF, by_leaf, count, natural, on_pool, states

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpu_platform.planning.model import FabricPlan, FabricPool, NodePlan, Plan

# A pool of more nodes, or a fabric of more squares, is drawn a row a leaf: nobody reads more, and mail takes the file.
NODES, SQUARES = 64, 1200
MARGIN, ROW, SQUARE, STEP, WIRES, GAP = 24, 22, 16, 19, 150, 26


@dataclass(frozen=True)
class Row:
    """A line of the picture, one node or all nodes of a leaf; `whole` is all that there is to say about it."""

    label: str
    note: str
    whole: str
    active: bool
    rack: str | None
    leaf: str | None
    y: float = 0


@dataclass(frozen=True)
class Box:
    """A leaf with the nodes of one pool, and further pools that hang on the same leaf."""

    leaf: str | None
    nodes: tuple[NodePlan, ...]
    also: tuple[str, ...]
    rows: tuple[Row, ...]
    y: float

    @property
    def height(self) -> float:
        """As high as its rows, so that wires run straight where leaves follow racks."""
        return ROW * len(self.rows) - 4

    @property
    def name(self) -> str:
        """What stands in its first line."""
        return self.leaf or NO_LEAF

    @property
    def shared(self) -> str:
        """Who else hangs on it, in words; empty where nobody does."""
        if len(self.also) > 2:
            return f"also {len(self.also)} other pools"
        return f"also {' and '.join(self.also)}" if self.also else ""

    @property
    def states(self) -> str:
        """Its nodes in words, where they are more than the one row says already."""
        return states(self.nodes) if len(self.rows) > 1 else ""


@dataclass(frozen=True)
class Block:
    """A pool on the picture."""

    pool: FabricPool
    head: str
    y: float
    rows: tuple[Row, ...]
    boxes: tuple[Box, ...]

    @property
    def bottom(self) -> float:
        """Where it ends."""
        ends = [self.y + ROW / 2, *(row.y + ROW / 2 for row in self.rows), *(box.y + box.height for box in self.boxes)]
        return max(ends)


@dataclass(frozen=True)
class Columns:
    """Where things stand from left to right."""

    name: float
    squares: float
    note: float
    wires: float
    leaves: float
    end: float


def blocks(plan: Plan, fabric: FabricPlan, y: float) -> Iterator[Block]:
    """Yield the pools on the fabric from top to bottom."""
    nodes = {pool.name: on_pool(plan, pool.name) for pool in fabric.pools}
    crowded = sum(len(pool.rails) * len(nodes[pool.name]) for pool in fabric.pools) > SQUARES
    pools_of: dict[str | None, list[str]] = {}
    for name, found in nodes.items():
        for leaf in by_leaf(found):
            pools_of.setdefault(leaf, []).append(name)
    for pool in fabric.pools:
        mine = nodes[pool.name]
        folded = crowded or len(mine) > NODES
        rows = tuple(_placed(_leaves(pool, mine) if folded else _nodes(pool, mine), y + ROW * 1.2))
        head = f"{pool.fabric}, {states(mine)}{', one row for each leaf' if folded else ''}"
        also = {leaf: tuple(one for one in names if leaf and one != pool.name) for leaf, names in pools_of.items()}
        yield (block := Block(pool, head, y, rows, tuple(_boxes(rows, by_leaf(mine), also))))
        y = block.bottom + GAP


def columns(drawn: list[Block], rails: int) -> Columns:
    """Return columns in which every text of these blocks has its place."""
    rows = [row for block in drawn for row in block.rows]
    racks = svg.wide(row.rack or "" for row in rows)
    name = MARGIN + (racks + 20 if racks else 0)
    squares = name + svg.wide(row.label for row in rows) + 12
    note = squares + STEP * rails + 8
    wires = note + max((svg.wide([row.note], 120) + 8 for row in rows if row.note), default=0)
    boxes = [box for block in drawn for box in block.boxes]
    texts = [text for box in boxes for text in (f"{svg.short(box.name)}  {box.shared}", box.states)]
    return Columns(name, squares, note, wires, wires + WIRES, wires + WIRES + svg.wide(texts, 200) + 24)


def _placed(rows: Iterable[Row], y: float) -> Iterator[Row]:
    """Yield rows one below the other, with a little more between racks."""
    before: Row | None = None
    for row in rows:
        y += ROW / 3 if before and before.rack != row.rack else 0
        before = replace(row, y=y)
        yield before
        y += ROW


def _nodes(pool: FabricPool, nodes: list[NodePlan]) -> Iterator[Row]:
    for node in nodes:
        active = node.state == "active"
        place = f"rack {node.rack or 'not stated'}, {f'leaf {node.leaf}' if node.leaf else NO_LEAF}"
        whole = f"{node.name} of {pool.name}: {node.state}, {place}"
        yield Row(node.name, "" if active else node.state, whole, active, node.rack or None, node.leaf or None)


def _leaves(pool: FabricPool, nodes: list[NodePlan]) -> Iterator[Row]:
    for leaf, found in by_leaf(nodes).items():
        racks = sorted({node.rack for node in found if node.rack}, key=natural)
        away = [f"{node.name} {node.state}" for node in found if node.state != "active"]
        whole = [f"{leaf or NO_LEAF}: {count(len(found))} of {pool.name}"]
        whole += [f"racks {', '.join(racks)}"] if racks else []
        yield Row(leaf or NO_LEAF, states(found), "\n".join([*whole, *away]), len(away) < len(found), None, leaf)


def _boxes(
    rows: tuple[Row, ...], nodes: dict[str | None, list[NodePlan]], also: dict[str | None, tuple[str, ...]]
) -> Iterator[Box]:
    """Yield the leaves of these rows: each as near as can be to its own, none over another."""
    mine = {leaf: tuple(row for row in rows if row.leaf == leaf) for leaf in nodes}
    y, end = (rows[0].y - ROW / 2 + 2, rows[-1].y + ROW / 2 + 2) if rows else (0.0, 0.0)
    left = len(rows)
    for leaf in sorted(mine, key=lambda one: (one is None, sum(row.y for row in mine[one]) / len(mine[one]))):
        box = Box(leaf, tuple(nodes[leaf]), also[leaf], mine[leaf], 0)
        wish = (mine[leaf][0].y + mine[leaf][-1].y - box.height) / 2
        # Those that follow need a row's height for each of their rows above the end.
        box = replace(box, y=max(y, min(wish, end - ROW * left)))
        yield box
        y = box.y + box.height + 4
        left -= len(box.rows)
