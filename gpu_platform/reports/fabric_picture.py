"""The fabric as a picture for people on call: nodes with their rails, the leaf each goes to, and who is not active."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gpu_platform.reports import svg
from gpu_platform.reports.explain_fabric import NO_LEAF, capacity, count
from gpu_platform.reports.fabric_layout import MARGIN, ROW, SQUARE, STEP, WIRES, blocks, columns

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from gpu_platform.planning.model import FabricPlan, Plan, Rail
    from gpu_platform.reports.fabric_layout import Block, Box, Columns, Row


def picture(plan: Plan, fabric: FabricPlan) -> str:
    """Return the fabric as SVG; the same plan gives the same bytes."""
    rails = max((pool.rails for pool in fabric.pools), key=len, default=())
    title, mode = f"Fabric of {plan.cluster.name}", f"mode {fabric.mode}, {capacity(fabric)}"
    legend = _cells(rails)
    drawn = list(blocks(plan, fabric, MARGIN + ROW * (len(legend) + 4)))
    at = columns(drawn, len(rails))
    heads = [f"{block.pool.name}  {block.head}" for block in drawn]
    told = [title.ljust(len(title) * 4 // 3), mode, *("".join(cell for cell in cells) for cells in legend), *heads]
    width = max(at.end, MARGIN + STEP * 2 + svg.wide(told, 200)) + MARGIN
    bottom = max((block.bottom for block in drawn), default=0) + MARGIN
    root = svg.document(math.ceil(width), math.ceil(bottom), title)
    _stamps(root, rails)
    _legend(root, title, mode, rails, legend)
    for block in drawn:
        svg.write(root, MARGIN, block.y, block.pool.name, style="bold", size=63)
        svg.write(root, MARGIN + svg.CHAR * (len(block.pool.name) + 2), block.y, block.head, style="dim", size=200)
        _wires(root, block, at)
        _racks(root, block, at)
        for row in block.rows:
            _row(root, block, row, at)
        for box in block.boxes:
            _leaf(root, block, box, at)
    return svg.as_text(root)


def _wires(root: Element, block: Block, at: Columns) -> None:
    """Draw from each row to its leaf a ribbon of as many strands as there are rails, in their order."""
    paths: dict[str, list[str]] = {}
    for box in block.boxes:
        for seat, row in enumerate(box.rows):
            end = box.y - 2 + ROW * (seat + 0.5)
            start = at.note + (svg.wide([row.note], 120) + 8 if row.note else 0)
            strands = len(block.pool.rails) if box.leaf else 1
            for index in range(strands):
                shift = (index - (strands - 1) / 2) * min(1.9, 14 / strands)
                style = f"{_style(block.pool.rails[index])}{'' if row.active else ' off'}" if box.leaf else "loose"
                paths.setdefault(style, []).append(_strand(start, at.wires, row.y + shift, end + shift, shift))
    for style in sorted(paths):
        svg.element(root, "path", {"class": f"wire {style}", "d": "".join(paths[style])})


def _strand(start: float, turn: float, y: float, end: float, shift: float) -> str:
    """Return one strand; the outer ones turn later, so that a ribbon stays one where it is steep."""
    # Rounded first: the end is written relative to the beginning.
    y, end = round(y, 1), round(end, 1)
    if y == end:
        return f"M{svg.number(start)},{svg.number(y)}H{svg.number(turn + WIRES)}"
    middle, drop = svg.number(WIRES / 2 - math.copysign(shift, shift * (end - y))), svg.number(end - y)
    line = f"M{svg.number(start)},{svg.number(y)}H{svg.number(turn)}"
    return f"{line}c{middle},0 {middle},{drop} {WIRES},{drop}"


def _racks(root: Element, block: Block, at: Columns) -> None:
    """Draw a line along the nodes of each rack, with its name."""
    spans: dict[str, list[float]] = {}
    for row in block.rows:
        if row.rack:
            spans.setdefault(row.rack, []).append(row.y)
    for rack, found in spans.items():
        svg.write(root, MARGIN, (found[0] + found[-1]) / 2, rack, style="dim")
        line = f"M{svg.number(at.name - 10)},{svg.number(found[0] - 8)}V{svg.number(found[-1] + 8)}"
        svg.element(root, "path", {"class": "rack", "d": line})


def _row(root: Element, block: Block, row: Row, at: Columns) -> None:
    group = svg.element(root, "g", {"class": "row"})
    svg.write(group, at.name, row.y, row.label, whole=row.whole, style="" if row.active else "dim")
    for rail in block.pool.rails:
        title = f"{svg.short(row.label)}, {_port(rail)}"
        _square(group, at.squares + STEP * rail.index, row.y, rail, title, off=not row.active)
    if row.note:
        svg.write(group, at.note, row.y, row.note, whole=row.whole, style="dim" if row.active else "warn", size=120)


def _stamps(root: Element, rails: tuple[Rail, ...]) -> None:
    """Define a square for each rail once, filled and hollow, since large fabrics show thousands of them."""
    definitions = svg.element(root, "defs")
    for rail in rails:
        for kind, style in (("rail", ""), ("off", " off")):
            group = svg.element(definitions, "g", {"id": f"{kind}-{rail.index}", "class": f"{_style(rail)}{style}"})
            svg.element(group, "rect", {"y": -SQUARE / 2, "width": SQUARE, "height": SQUARE, "rx": 2})
            svg.element(group, "text", {"class": "mid", "x": SQUARE / 2, "y": 3.5}, str(rail.index))


def _square(root: Element, x: float, y: float, rail: Rail, title: str, *, off: bool = False) -> None:
    stamp = svg.element(root, "use", {"href": f"#{'off' if off else 'rail'}-{rail.index}", "x": x, "y": y})
    svg.element(stamp, "title", text=title)


def _leaf(root: Element, block: Block, box: Box, at: Columns) -> None:
    group = svg.element(root, "g", {"class": "leaf"})
    told = [box.leaf or f"{NO_LEAF}: inventory.pools.{block.pool.name}.nodes.<node>.leaf says it"]
    told += [f"{count(len(box.nodes))} of {block.pool.name}", *(f"also of {pool}" for pool in box.also)]
    svg.element(group, "title", text="\n".join(told))
    edges: dict[str, str | float] = {"x": at.leaves, "y": box.y, "width": at.end - at.leaves, "height": box.height}
    svg.element(group, "rect", {"class": "box" if box.leaf else "box none", **edges, "rx": 4})
    x, y = at.leaves + 12, box.y + box.height / 2 - (9 if box.states else 0)
    svg.write(group, x, y, box.name, style="bold" if box.leaf else "dim")
    if box.shared:
        svg.write(group, x + svg.CHAR * (len(svg.short(box.name)) + 2), y, box.shared, style="dim", size=200)
    if box.states:
        svg.write(group, x, y + 18, box.states, style="dim", size=120)


def _legend(root: Element, title: str, mode: str, rails: tuple[Rail, ...], lines: list[list[str]]) -> None:
    svg.write(root, MARGIN, MARGIN, title, style="big", size=80)
    svg.write(root, MARGIN, MARGIN + ROW, mode, size=200)
    y = MARGIN + ROW * 2.0
    for index, line in enumerate(lines):
        x = MARGIN + STEP * 2.0
        for cell in line:
            svg.write(root, x, y, cell.rstrip(), style="" if index else "dim", size=200)
            x += svg.CHAR * len(cell)
        if index:
            _square(root, MARGIN, y, rails[index - 1], f"rail {rails[index - 1].index}")
        y += ROW
    if rails:
        _square(root, MARGIN, y, rails[0], "a rail of a node that is not active", off=True)
        svg.write(root, MARGIN + STEP * 2, y, "hollow: not active, its state beside it", style="dim", size=200)


def _cells(rails: tuple[Rail, ...]) -> list[list[str]]:
    """Return what pods ask for and get on each rail, below a head; a column in which nothing stands is left out."""
    shown = [key for key in ("resource", "network", "subnet") if any(getattr(rail, key) for rail in rails)]
    lines = [shown, *([getattr(rail, key) or "-" for key in shown] for rail in rails)]
    widths = [max(len(line[at]) for line in lines) + 3 for at in range(len(shown))]
    return [[cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines]


def _port(rail: Rail) -> str:
    parts = (f"PCI {rail.pci}", rail.hca and f"HCA {rail.hca}", f"interface {rail.interface}")
    return f"rail {rail.index}: {', '.join(filter(None, (*parts, rail.network and f'network {rail.network}')))}"


def _style(rail: Rail) -> str:
    """Return the colour of a rail; more rails than colours begin anew, since squares have numbers."""
    return f"s{rail.index % len(svg.LIGHT)}"
