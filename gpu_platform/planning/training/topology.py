"""Flavors and levels: which nodes a quota stands for, and how gangs are packed on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.labels import PREFIX
from gpu_platform.planning.nodes import admitted
from gpu_platform.planning.training.metal import counted, pools
from gpu_platform.planning.training.objects import kueue

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Pool
    from gpu_platform.settings.root import Settings

LEAF = f"{PREFIX}/leaf"


def levels(pool: Pool) -> tuple[str, ...]:
    """Return the labels by which gangs are packed, widest first: the leaf switch where nodes state one, then the node.

    The node is always the last: taints and what fits are looked at only there (kueue tas_flavor_snapshot.go).
    """
    leaf = (LEAF,) if any(node.leaf for _, node in counted(pool)) else ()
    return (*leaf, str(facts.table("kueue")["labels"]["hostname"]))


def topology_name(pool: Pool) -> str | None:
    """Return the name of the Topology of a pool, after its levels; None where claims hide what is free."""
    if pool.allocation == "dra":
        return None
    return f"{PREFIX}-leaf" if LEAF in levels(pool) else f"{PREFIX}-node"


def topologies(settings: Settings, names: set[str]) -> dict[str, dict[str, Any]]:
    """Return the Topologies of these pools by name."""
    found: dict[str, dict[str, Any]] = {}
    for name, pool in pools(settings).items():
        key = topology_name(pool)
        if name in names and key:
            spec = {"levels": [{"nodeLabel": label} for label in levels(pool)]}
            found[key] = kueue("Topology", key, spec)
    return found


def flavor_name(settings: Settings, pool: str) -> str:
    """Return the name of a pool's flavor: the pool's, with its generation where one is stated."""
    generation = settings.training.generations.get(pool) if settings.training else None
    return f"{pool}-g{generation}" if generation else pool


def flavor(settings: Settings, name: str) -> dict[str, Any]:
    """Return the flavor of a pool: nodes of its label, their taints tolerated, packed by its Topology."""
    pool = pools(settings)[name]
    spec: dict[str, Any] = {"nodeLabels": {f"{PREFIX}/pool": name}, "tolerations": admitted(pool)}
    if key := topology_name(pool):
        spec["topologyName"] = key
    return kueue("ResourceFlavor", flavor_name(settings, name), spec)
