"""One figure as the table and JSON show it, and the small statistics that figures are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


class CouldNotRunError(Exception):
    """One sentence: why a figure could not be measured."""


@dataclass(frozen=True)
class Figure:
    """One row: what was measured and the bar that it has to stay under; a figure without a bar is for reading only.

    `skipped` says why there is nothing to measure, `failed` why it could not be measured.
    """

    what: str
    value: float | None = None
    unit: str = ""
    bar: float | None = None
    detail: str = ""
    skipped: str = ""
    failed: str = ""

    @property
    def verdict(self) -> str:
        """Return ok, over, skipped, failed, or - where there is no bar."""
        if self.failed:
            return "failed"
        if self.skipped:
            return "skipped"
        if self.bar is None or self.value is None:
            return "-"
        return "ok" if self.value <= self.bar else "over"

    @property
    def measured(self) -> str:
        """Return the measured value with its unit, and what it is made of."""
        if reason := self.failed or self.skipped:
            return reason
        number = "" if self.value is None else f"{_number(self.value)}{self.unit}"
        return f"{number} ({self.detail})" if number and self.detail else number or self.detail

    @property
    def bar_text(self) -> str:
        """Return the bar as people write it."""
        return "" if self.bar is None else f"<= {_number(self.bar)}{self.unit}"

    def to_json(self) -> dict[str, Any]:
        """Return the row for machines."""
        return {
            "what": self.what,
            "value": self.value,
            "unit": self.unit.strip(),
            "bar": self.bar,
            "detail": self.detail or self.skipped or self.failed,
            "verdict": self.verdict,
        }


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2f}"


def slope(points: dict[int, float]) -> float:
    """Return the exponent with which the values grow: the least-squares line through the points on log-log paper."""
    xs, ys = [math.log(size) for size in points], [math.log(value) for value in points.values()]
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - x_mean) ** 2 for x in xs)
