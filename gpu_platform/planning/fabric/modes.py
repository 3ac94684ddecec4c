"""The one mode of the fabric, and what follows from it: one table instead of flags that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.fabric.groups import groups

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def mode(settings: Settings) -> str:
    """Return the mode: what is stated, else what suits the cards; needs a pool on the fabric."""
    stated = settings.fabric.mode if settings.fabric else None
    return stated or str(facts.table("fabric")["default"][groups(settings)[0].fabric])


def row(settings: Settings) -> dict[str, Any]:
    """Return the table's row of the mode."""
    return dict(facts.table("fabric")["mode"][mode(settings)])


def network(settings: Settings) -> str:
    """Return the type of the networks that pods are attached to; "" where they need none."""
    return str(row(settings)["network"].get(groups(settings)[0].fabric, ""))


def runs(settings: Settings, operator: str) -> bool:
    """Tell whether the mode needs this operator."""
    return present(settings) and row(settings)["operator"] == operator


def present(settings: Settings) -> bool:
    """Tell whether there is a fabric: a pool with nics, and a section that could be read."""
    return bool(settings.fabric and groups(settings))
