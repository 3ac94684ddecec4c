"""Static node labels and taints: what the platform sets, and what Kubernetes refuses."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

PREFIX = "gpu-platform"
# What machines on the fabric are selected by.
FABRIC = f"{PREFIX}/fabric"
_NAME = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def of_pool(name: str, pool: Pool) -> dict[str, str]:
    """Return the labels that all nodes of a pool share."""
    model = {f"{PREFIX}/gpu-model": pool.gpu.model} if pool.gpu else {}
    fabric = {FABRIC: pool.nics.fabric} if pool.nics else {}
    return {f"{PREFIX}/pool": name, **model, **fabric, **pool.labels}


def of_node(name: str, pool: Pool, node: Node) -> dict[str, str]:
    """Return all static labels of one node: its pool's, and its place."""
    place = {f"{PREFIX}/rack": node.rack, f"{PREFIX}/leaf": node.leaf}
    return of_pool(name, pool) | {key: value for key, value in place.items() if value}


def outside_talos(settings: Settings, pool: Pool, node: Node) -> dict[str, str]:
    """Return the static labels of a node that no machine configuration of ours gives it; {} on Talos."""
    if pool.os == "talos" or settings.inventory is None:
        return {}
    name = next(name for name, one in settings.inventory.pools.items() if one is pool)
    return of_node(name, pool, node)


def trouble(key: str) -> str | None:
    """Return why a node may not carry this label or taint key, or None."""
    prefix, _, name = key.rpartition("/")
    if not _NAME.fullmatch(name) or (("/" in key) and not (_PREFIX.fullmatch(prefix) and len(prefix) <= 253)):
        return "it is no label key (prefix/name)"
    if prefix == PREFIX:
        return f"keys under {PREFIX}/ are this platform's own"
    if prefix in {"kubernetes.io", "k8s.io"} or prefix.endswith((".kubernetes.io", ".k8s.io")):
        return "the API server forbids kubelets to set keys under kubernetes.io and k8s.io"
    return None
