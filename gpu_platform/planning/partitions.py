"""AMD cards in partitions: which pairs a model knows, what they are called, how many devices come of them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.inventory import Node, Partition, Pool
    from gpu_platform.settings.root import Settings

KEY, FILE = "amd-partitions", "config.json"
WHOLE = ("SPX", "NPS1")


def chosen(pool: Pool, node: Node) -> Partition | None:
    """Return the partition of a node: its own, else its pool's; None where cards stay as they are."""
    return node.partition or pool.partition


def used(pool: Pool) -> bool:
    """Tell whether any node of a pool says how its cards are partitioned."""
    return any(chosen(pool, node) for node in pool.nodes.values())


def pair(one: Partition | None) -> tuple[str, str]:
    """Return compute and memory mode; cards that nobody speaks of are whole."""
    return (one.compute, one.memory) if one else WHOLE


def devices(pool: Pool, node: Node) -> int:
    """Return how many devices a node of AMD or Gaudi cards hands out."""
    asked = chosen(pool, node) if inventory.state(node)["patched"] and _works(pool) else None
    compute = pair(asked)[0]
    return inventory.per_node(pool) * int(_model(pool).get("devices", {}).get(compute, 1))


def _works(pool: Pool) -> bool:
    """Tell whether the manager that partitions cards is known to start on the pool's operating system."""
    return pool.os != "talos" or bool(facts.table("amd_partitions")["manager"]["talos"])


def profile(one: tuple[str, str], count: int) -> str:
    """Return the name of a pair for the device config manager, on nodes with so many cards."""
    return f"{'-'.join(one)}-{count}".lower()


def node_labels(_settings: Settings, pool: Pool, node: Node) -> dict[str, str]:
    """Return the label by which a node asks for its partitions; {} where nobody speaks of them."""
    one = chosen(pool, node)
    request = facts.table("amd_partitions")["manager"]["request"]
    return {request: profile(pair(one), inventory.per_node(pool))} if one else {}


def data(settings: Settings) -> dict[str, str]:
    """Return the manager's configuration: every pair that any model knows, so that shipping it changes nothing.

    A profile says of how many cards it speaks, and the manager refuses it where a node has others.
    """
    pairs = {tuple(one.split("/")) for row in facts.table("amd_partitions")["model"].values() for one in row["pairs"]}
    counts = sorted({inventory.per_node(pool) for pool in _pools(settings)})
    profiles = {
        profile((compute, memory), count): {
            "skippedGPUs": {"ids": []},
            "profiles": [{"computePartition": compute, "memoryPartition": memory, "numGPUsAssigned": count}],
        }
        for compute, memory in sorted(pairs)
        for count in counts
    }
    content = {"gpu-config-profiles": profiles, "gpuClientSystemdServices": {"names": []}}
    return {FILE: json.dumps(content, indent=2) + "\n"}


def config_maps(settings: Settings) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield key, name and data of the ConfigMap with every pair; none where no card is partitioned."""
    if _pools(settings):
        yield KEY, config_map_name(settings), data(settings)


def config_map_name(settings: Settings) -> str:
    """Return the ConfigMap's name, which follows its content."""
    return f"{KEY}-{hashlib.sha256(data(settings)[FILE].encode()).hexdigest()[:8]}"


def _pools(settings: Settings) -> list[Pool]:
    return [pool for pool in inventory.of_vendor(settings, "amd").values() if used(pool)]


def _model(pool: Pool) -> dict[str, dict[str, int]]:
    model = pool.gpu.model if pool.gpu else ""
    found: dict[str, dict[str, int]] = facts.table("amd_partitions")["model"].get(model, {})
    return found


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield partitions that the cards do not have."""
    pools = settings.inventory.pools if settings.inventory else {}
    for name, pool in pools.items():
        path = f"inventory.pools.{name}"
        stated = {f"{path}.partition": pool.partition}
        stated |= {f"{path}.nodes.{each}.partition": node.partition for each, node in pool.nodes.items()}
        for where, one in stated.items():
            if one is None:
                continue
            pairs = facts.table("amd_partitions")["model"].get(pool.gpu.model if pool.gpu else "", {}).get("pairs", ())
            what = pool.gpu.model if pool.gpu else "a pool without GPUs"
            if not pairs:
                known = ", ".join(facts.table("amd_partitions")["model"])
                yield finding("GPU-012", where, f"{what} has no partitions", f"leave it out; what has: {known}")
            elif "/".join(pair(one)) not in pairs:
                message = f"{what} has no {one.compute} with {one.memory}"
                yield finding("GPU-012", where, message, f"choose from {', '.join(pairs)}")
            elif pair(one) != WHOLE and not _works(pool):
                message = "the device config manager wants directories of systemd, which Talos lacks: cards stay whole"
                yield finding("GPU-017", where, message, "leave it out, or use nodes of another system (os: other)")
