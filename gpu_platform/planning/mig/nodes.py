"""Nodes and their layouts: which one each asks for, and what it then hands out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gpu_platform.planning import inventory
from gpu_platform.planning.mig.library import ALL, config_name, indices

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

REQUEST = "nvidia.com/mig.config"
WHOLE_CARD = "nvidia.com/gpu"


def chosen(pool: Pool, node: Node) -> str | None:
    """Return the layout of a node: its own choice, else its pool's, None for whole cards."""
    choice = node.mig or pool.mig
    return choice.layout if choice else None


def config(settings: Settings, pool: Pool, node: Node) -> str | None:
    """Return the configuration name that a node asks for; None for whole cards."""
    name = chosen(pool, node)
    layouts = settings.gpu.mig.layouts if settings.gpu else {}
    return config_name(name, layouts[name]) if name in layouts else None


def strategy(settings: Settings) -> str:
    """Return how slices are called: mixed, unless the stack file says single."""
    return (settings.gpu.mig.strategy if settings.gpu else None) or "mixed"


def per_gpu(layout: dict[str, tuple[str, ...]], count: int) -> list[tuple[str, ...]]:
    """Return the profiles of each GPU of a node with `count` of them; GPUs that the layout does not name stay whole."""
    if ALL in layout:
        return [layout[ALL]] * count
    named = {number: profiles for numbers, profiles in layout.items() for number in indices(numbers)}
    return [named.get(number, ()) for number in range(count)]


def cards(settings: Settings, pool: Pool, node: Node) -> list[tuple[str, ...]]:
    """Return the profiles of each of a node's cards, () for a whole one; a layout counts where it may be asked for."""
    count, name = inventory.per_node(pool), chosen(pool, node)
    layouts = settings.gpu.mig.layouts if settings.gpu else {}
    if name not in layouts or not inventory.state(node)["patched"]:
        return [()] * count
    return per_gpu(layouts[name], count)


def unshared(settings: Settings, pool: Pool, node: Node) -> dict[str, int]:
    """Return the extended resources of a node's NVIDIA cards, each handed out once."""
    found: Counter[str] = Counter()
    for profiles in cards(settings, pool, node):
        found.update([resource(profile, strategy(settings)) for profile in profiles] or [WHOLE_CARD])
    return dict(sorted(found.items()))


def resource(profile: str, strategy_: str) -> str:
    """Return the extended resource of a slice; a plus sign may not stand in one."""
    return WHOLE_CARD if strategy_ == "single" else f"nvidia.com/mig-{profile.replace('+', '.')}"
