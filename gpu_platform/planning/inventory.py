"""The inventory seen as nodes: who is in, in which pool, in which state, with which cards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.findings import did_you_mean, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.inventory import Inventory, Node, Pool
    from gpu_platform.settings.root import Settings


def card(pool: Pool) -> dict[str, Any]:
    """Return the facts of the pool's GPU model; {} for a plain pool or an unknown model."""
    return dict(facts.table("gpus").get(pool.gpu.model, {})) if pool.gpu else {}


def per_node(pool: Pool) -> int:
    """Return the cards of each node in the pool; 0 for a plain pool."""
    if pool.gpu is None:
        return 0
    return pool.gpu.per_node or int(card(pool).get("per_node", 0))


def state(node: Node) -> dict[str, bool]:
    """Return what the node's state means: image, joined, quota, alerts."""
    return dict(facts.table("node_states")[node.state])


def talos_version(settings: Settings, pool: Pool, node: Node | None = None) -> str | None:
    """Return the Talos release of a node or pool, None where the pool does not run Talos."""
    if pool.os != "talos" or settings.cluster is None:
        return None
    return (node.talos_version if node else None) or pool.talos_version or settings.cluster.talos_version


def image_class(settings: Settings, name: str, pool: Pool, node: Node) -> str:
    """Return the class that the node boots: the pool's name, with the release while the node differs from its pool."""
    version = talos_version(settings, pool, node)
    return name if version == talos_version(settings, pool) else f"{name}-{version}"


def of_vendor(settings: Settings, vendor: str) -> dict[str, Pool]:
    """Return the pools with accelerators of a vendor (nvidia, amd, intel) by name."""
    return {name: pool for name, pool in accelerated(settings).items() if card(pool)["vendor"] == vendor}


def accelerated(settings: Settings) -> dict[str, Pool]:
    """Return the pools with accelerators that the facts know, by name."""
    pools = settings.inventory.pools if settings.inventory else {}
    return {name: pool for name, pool in pools.items() if card(pool)}


def nvidia_pools(settings: Settings) -> dict[str, Pool]:
    """Return the pools with NVIDIA GPUs by name."""
    return of_vendor(settings, "nvidia")


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the inventory beyond its shape."""
    if settings.inventory is None:
        return
    yield from _shared(settings.inventory)
    for name, pool in settings.inventory.pools.items():
        yield from _pool(f"inventory.pools.{name}", pool)
        for node_name, node in pool.nodes.items():
            yield from _node(f"inventory.pools.{name}.nodes.{node_name}", node, settings.inventory)


def _shared(inventory: Inventory) -> Iterator[Finding]:
    """Names and addresses that two nodes must not share, across all pools."""
    names: dict[str, str] = {}
    addresses: dict[str, str] = {}
    for pool_name, pool in inventory.pools.items():
        for name, node in pool.nodes.items():
            path = f"inventory.pools.{pool_name}.nodes.{name}"
            if name in names:
                message = f"node {name} is in pool {names[name]} and in pool {pool_name}"
                yield finding("CFG-008", path, message, "remove it from one of the two")
            names.setdefault(name, pool_name)
            if node.bmc and node.bmc in addresses:
                message = f"address {node.bmc} is used by both {addresses[node.bmc]} and {name}"
                yield finding("CFG-011", f"{path}.bmc", message, "give each its own")
            if node.bmc:
                addresses.setdefault(node.bmc, name)


def _pool(path: str, pool: Pool) -> Iterator[Finding]:
    known = facts.table("gpus")
    if not pool.nodes:
        yield finding("CFG-010", f"{path}.nodes", "this pool has no nodes", "name its nodes or remove the pool")
    if pool.gpu is None:
        return
    if pool.gpu.model not in known:
        fix = did_you_mean(pool.gpu.model, known)
        yield finding("GPU-001", f"{path}.gpu.model", f"unknown GPU model {pool.gpu.model!r}", fix)
        return
    vendor, most = card(pool)["vendor"], card(pool)["per_node"]
    if vendor == "nvidia" and pool.os != "talos":
        message = "NVIDIA pools have to run Talos: one ClusterPolicy serves all nodes, and the driver lies elsewhere"
        yield finding("GPU-003", f"{path}.os", message, "write os: talos or leave this pool out")
    if card(pool)["form"] in {"sxm", "superchip", "oam"} and per_node(pool) > most:
        message = f"{per_node(pool)} cards a node, but boards of {pool.gpu.model} hold {most}"
        yield finding("GPU-004", f"{path}.gpu.perNode", message, f"write {most} or fewer")


def _node(path: str, node: Node, inventory: Inventory) -> Iterator[Finding]:
    if node.state == "quarantined" and not node.reason:
        yield finding("CFG-012", path, "this node is quarantined and nobody knows why", "write reason: in a few words")
    if node.rack and inventory.racks and node.rack not in inventory.racks:
        fix = did_you_mean(node.rack, inventory.racks)
        yield finding("CFG-014", f"{path}.rack", f"rack {node.rack!r} is not among inventory.racks", fix)
