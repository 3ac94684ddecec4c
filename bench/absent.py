"""Figures of the design for parts that the product does not have yet; a part that has come says that it is due."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.figures import Figure
from gpu_platform.settings.root import SECTIONS

if TYPE_CHECKING:
    from collections.abc import Iterator

DUE = "the product has it now: measure it in bench/"


def figures() -> Iterator[Figure]:
    """Yield one skipped figure for each part that nothing measures."""
    for what, section in (("8 rails a node", "fabric"), ("200 queues", "training"), ("200 models", "inference")):
        yield _skipped(f"check with {what}", f"the stack file has no section {section}", there=section in SECTIONS)


def _skipped(what: str, reason: str, *, there: bool) -> Figure:
    return Figure(what, skipped=DUE if there else reason)
