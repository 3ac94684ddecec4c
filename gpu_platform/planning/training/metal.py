"""What there is to share: the cards of each pool's active nodes, by the name under which Kueue counts them."""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

from gpu_platform.planning import devices, inventory

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

# Kueue's own name for devices of a class: a resource needs a domain and a name (resources.deviceClassMappings).
CLAIMED = "devices"


def present(settings: Settings) -> bool:
    """Tell whether anybody has a queue."""
    return bool(settings.training and (settings.training.queues or settings.training.lend))


def pools(settings: Settings) -> dict[str, Pool]:
    """Return the pools with cards by name."""
    return inventory.accelerated(settings)


def counted(pool: Pool) -> list[tuple[str, Node]]:
    """Return the nodes whose cards count: those that are active."""
    return [(name, node) for name, node in pool.nodes.items() if inventory.state(node)["quota"]]


@lru_cache(maxsize=256)
def metal(settings: Settings, pool: str) -> dict[str, int]:
    """Return how much of each resource the pool's active nodes hand out, in the order of names."""
    found: Counter[str] = Counter()
    of_pool = pools(settings)[pool]
    for _, node in counted(of_pool):
        found.update(devices.resources(settings, of_pool, node))
        found.update({quota_name(name): count for name, count in devices.classes(settings, of_pool, node).items()})
    return dict(sorted(found.items()))


def quota_name(device_class: str) -> str:
    """Return the name under which devices of a class are counted."""
    return f"{device_class}/{CLAIMED}"


def classes(settings: Settings) -> dict[str, str]:
    """Return the DeviceClasses of all pools by the name under which they are counted."""
    return {
        quota_name(name): name
        for pool in pools(settings).values()
        for _, node in counted(pool)
        for name in devices.classes(settings, pool, node)
    }


def whole_cards(settings: Settings, name: str) -> bool:
    """Tell whether the pool hands out whole cards, counted one by one: neither claims, nor slices, nor shares."""
    found, pool = metal(settings, name), pools(settings)[name]
    cards = sum(inventory.per_node(pool) for _ in counted(pool))
    return pool.allocation == "devicePlugin" and len(found) <= 1 and sum(found.values()) == cards


def leaves(pool: Pool) -> Counter[str]:
    """Return how many active nodes each leaf switch has."""
    return Counter(node.leaf for _, node in counted(pool) if node.leaf)
