"""A card and its slices in characters: memory slices from left to right, what is left, and what it is handed out as."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning import mig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.planning.model import MigLayout, NodePlan

CELL = 12


def picture(layout: MigLayout, node: NodePlan) -> Iterator[tuple[str, str]]:
    """Yield a row for each group of GPUs of a layout: their numbers, and the card as text."""
    for numbers, profiles in layout.groups:
        which = f"GPU {f'0-{node.gpu_count - 1}' if numbers == 'all' else numbers}"
        yield which, card(str(node.gpu_model), profiles)


def card(model: str, profiles: tuple[str, ...]) -> str:
    """Return one card as text; needs profiles that fit it."""
    if not profiles:
        return "whole"
    _, memory, _ = mig.capacity(model)
    placed = mig.place(model, profiles)
    parts, at = [], 0
    for start, size, name in placed:
        parts += [("", start - at)] if start > at else []
        parts.append((name, size))
        at = start + size
    parts += [("", memory - at)] if at < memory else []
    drawn = "|".join(name.center(size * CELL - 1, " " if name else ".") for name, size in parts)
    compute, used, _ = mig.needs(model, profiles)
    there = mig.capacity(model)
    return f"|{drawn}|  {compute} of {there[0]} compute slices, {used} of {there[1]} memory slices"
