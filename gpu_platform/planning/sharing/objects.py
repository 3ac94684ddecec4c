"""What the cluster gets of sharing: the configurations, a label on each node, the operator's values, the names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.mig.nodes import unshared
from gpu_platform.planning.sharing.configs import (
    RENAMED,
    REQUEST,
    WHOLE,
    config,
    config_map_name,
    data,
    replicas,
    short,
    slices,
    ways,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

KEY = "sharing-configs"


def config_maps(settings: Settings) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield key, name and data of the ConfigMap with every way of sharing; none where nothing is shared."""
    if ways(settings):
        yield KEY, config_map_name(settings), data(settings)


def node_labels(settings: Settings, pool: Pool, node: Node) -> dict[str, str]:
    """Return the label by which a node asks for its way of sharing; {} where its cards are handed out once."""
    one = config(settings, pool, node)
    return {REQUEST: one.key} if one else {}


def values(settings: Settings) -> dict[str, Any]:
    """Return the device plugin's values."""
    return {"config": {"name": config_map_name(settings), "default": WHOLE}} if ways(settings) else {}


def shared(settings: Settings, pool: Pool, node: Node, name: str) -> dict[str, int]:
    """Return the extended resources of a node's NVIDIA cards under way `name`, which exists."""
    one = ways(settings)[name]
    times = replicas(one, slices(settings, pool, node))
    found: dict[str, int] = {}
    for whole, count in unshared(settings, pool, node).items():
        factor = times.get(short(whole), 1)
        found[whole + RENAMED if factor > 1 and one.rename else whole] = count * factor
    return found
