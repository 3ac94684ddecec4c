"""Who gets how much: what lending keeps for models first, then what queues state, then the rest by shares."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from gpu_platform.planning import inventory
from gpu_platform.planning.training.metal import metal, pools

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Queue

Amounts = dict[str, int]


def of_pool(settings: Settings, pool: str) -> dict[str, Queue]:
    """Return the queues over a pool by name."""
    stated = settings.training.queues if settings.training else {}
    return {name: one for name, one in stated.items() if pool in one.pools}


def floor(settings: Settings, pool: str) -> int:
    """Return how many of the pool's cards belong to models."""
    lent = settings.training.lend.get(pool) if settings.training else None
    return lent.floor if lent else 0


@lru_cache(maxsize=256)
def quotas(settings: Settings, pool: str) -> dict[str, Amounts]:
    """Return the quota of each queue over a pool, by queue and resource; with what models need they sum to it.

    Queues that state `gpus` get them; the rest goes by shares, in whole nodes where it can, larger remainders first.
    """
    queues = of_pool(settings, pool)
    found: dict[str, Amounts] = {name: {} for name in queues}
    for resource, total in metal(settings, pool).items():
        left = total - floor(settings, pool)
        for name, queue in queues.items():
            if queue.gpus is not None:
                found[name][resource] = queue.gpus
                left -= queue.gpus
        shares = {name: queue.share or 1 for name, queue in queues.items() if queue.gpus is None}
        unit = inventory.per_node(pools(settings)[pool])
        for name, part in split(max(left, 0), shares, unit).items():
            found[name][resource] = part
    return found


def split(total: int, shares: dict[str, int], unit: int) -> dict[str, int]:
    """Return `total` split by shares exactly, in multiples of `unit` where all of it is one; largest remainder first.

    Both sums are exact: nothing is lost, and nothing is made.
    """
    if not shares:
        return {}
    step = unit if unit > 1 and total % unit == 0 and total // unit >= len(shares) else 1
    units, weight = total // step, sum(shares.values())
    found = {name: units * share // weight for name, share in shares.items()}
    rest = sorted(shares, key=lambda name: -(units * shares[name] % weight))
    for name in rest[: units - sum(found.values())]:
        found[name] += 1
    return {name: count * step for name, count in found.items()}


def unclaimed(settings: Settings, pool: str) -> int:
    """Return how many cards of a pool no queue has; negative where queues have more than there is."""
    amounts = quotas(settings, pool).values()
    total = sum(metal(settings, pool).values())
    resources = len(metal(settings, pool))
    return total - floor(settings, pool) * resources - sum(sum(one.values()) for one in amounts)
