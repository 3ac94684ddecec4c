"""What addresses on eight rails add to a plan of 1,000 nodes, and how it grows; the blocks are looked at, too."""

from __future__ import annotations

import ipaddress
import math
import time
from typing import TYPE_CHECKING, Any

from bench import inputs
from bench.figures import CouldNotRunError, Figure
from gpu_platform.planning import plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.planning.model import Plan

POOLS, NODES, RAILS, REPETITIONS = 4, 1000, 8, 3
RATIO_BAR, EXPONENT_BAR = 3.0, 1.15


def figures() -> Iterator[Figure]:
    """Yield the ratio of a plan with static addresses to one without a fabric, and the exponent of its growth."""
    full, bare = document(NODES), document(NODES)
    del bare["fabric"]
    for pool in bare["inventory"]["pools"].values():
        del pool["nics"]
    count = _blocks(_planned(full))
    if count != NODES * RAILS:
        raise CouldNotRunError(f"{count} blocks of addresses instead of {NODES * RAILS}")
    with_rails, without, half = _best(full), _best(bare), _best(document(NODES // 2))
    detail = f"{with_rails:.2f} s with {count} blocks of addresses, {without:.2f} s without a fabric"
    yield Figure("plan with addresses on 8 rails to plan without", with_rails / without, "x", RATIO_BAR, detail)
    detail = f"from {NODES // 2} to {NODES} nodes"
    yield Figure("growth of it (exponent)", math.log2(with_rails / half), "", EXPONENT_BAR, detail)


def document(nodes: int) -> dict[str, Any]:
    """Return an environment of `nodes` nodes on Ethernet, each with a slot of its own."""
    found = inputs.document(pools=POOLS, nodes=nodes)
    slot = 0
    for pool in found["inventory"]["pools"].values():
        pool["nics"] = {"profile": "xe9680-8rail-cx7", "fabric": "ethernet"}
        for node in pool["nodes"].values():
            node["slot"] = slot
            slot += 1
    rails = {"supernet": "10.32.0.0/12", "railPrefix": 16}
    return {**found, "fabric": {"mode": "host-device", "addresses": "static", "rails": rails}}


def _planned(keys: dict[str, Any]) -> Plan:
    found = plan(keys)
    if found.plan is None:
        raise CouldNotRunError(f"the stack file of the measurement is wrong: {found.findings[0]}")
    return found.plan


def _blocks(found: Plan) -> int:
    """Return how many blocks there are in all, after seeing that no two overlap."""
    prefixes = [
        ipaddress.IPv4Network(one["prefix"])
        for manifest in found.rdma_fabric.manifests
        if manifest.body["kind"] == "CIDRPool"
        for one in manifest.body["spec"]["staticAllocations"]
    ]
    together = sum(one.num_addresses for one in ipaddress.collapse_addresses(prefixes))
    if together != sum(one.num_addresses for one in prefixes):
        raise CouldNotRunError("two blocks of addresses overlap")
    return len(prefixes)


def _best(keys: dict[str, Any]) -> float:
    taken = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        plan(keys)
        taken.append(time.perf_counter() - began)
    return min(taken)
