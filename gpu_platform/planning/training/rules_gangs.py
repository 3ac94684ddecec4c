"""Gangs that others keep from starting: smaller jobs that overtake, leaves too small, nodes broken by small jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.training.jobs import shared, within
from gpu_platform.planning.training.metal import counted, leaves, pools
from gpu_platform.planning.training.topology import LEAF, levels, topology_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpu_platform.findings import Finding
    from gpu_platform.planning.training.jobs import Shape
    from gpu_platform.planning.training.queues import Spec
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Training


def gang_findings(
    settings: Settings, training: Training, every: tuple[Shape, ...], by_name: Mapping[str, Spec]
) -> Iterator[Finding]:
    """Yield gangs, jobs of more than one node, that wait without end."""
    for gang in (one for one in every if one.nodes > 1):
        path, spec = f"training.jobs.{gang.name}", by_name[gang.queue]
        if spec.strategy == "BestEffortFIFO" and spec.purpose == "training":
            message = f"smaller jobs of queue {gang.queue} overtake this gang of {gang.nodes} nodes while they come"
            fix = f"write training.queues.{gang.queue}.strategy: StrictFIFO, with one pool"
            yield finding("QUEUE-008", f"{path}.queue", message, fix)
        if training.jobs[gang.name].topology == "required":
            yield from _leaf(settings, f"{path}.topology", gang)
    yield from _broken_nodes(settings, every, by_name)


def _leaf(settings: Settings, path: str, gang: Shape) -> Iterator[Finding]:
    pool, fix = pools(settings)[gang.pool], "write topology: preferred"
    if topology_name(pool) is None or LEAF not in levels(pool):
        why = "its cards are claimed" if topology_name(pool) is None else "its nodes state no leaf"
        message = f"pool {gang.pool} has no leaves to be packed on: {why}"
        yield finding("QUEUE-006", path, message, f"{fix}, or state leaf: for every node")
        return
    name, most = leaves(pool).most_common(1)[0]
    if gang.nodes > most:
        message = f"it never starts: it wants {gang.nodes} nodes of one leaf, and the biggest, {name}, has {most}"
        yield finding("QUEUE-006", path, message, fix)
    elif shared(settings, gang.pool):
        message = (
            f"jobs of other queues of pool {gang.pool} may stand on every leaf: quota keeps cards free, not leaves"
        )
        yield finding("QUEUE-028", path, message, f"{fix}, or let one queue have the pool to itself")


def _broken_nodes(settings: Settings, every: tuple[Shape, ...], by_name: Mapping[str, Spec]) -> Iterator[Finding]:
    """Yield jobs on parts of nodes that may stand on so many nodes that a gang of another queue finds too few.

    Within one queue they are waited for; another queue's come again and again, one a node at worst.
    """
    for one in every:
        if one.cards >= inventory.per_node(pools(settings)[one.pool]):
            continue
        nodes, broken = len(counted(pools(settings)[one.pool])), within(by_name[one.queue], one.pool) // one.cards
        gangs = (other for other in every if other.pool == one.pool and other.nodes > 1 and other.queue != one.queue)
        for gang in (other for other in gangs if other.nodes > nodes - broken):
            message = (
                f"with {one.cards} cards each, such jobs can stand on {min(broken, nodes)} of {nodes} nodes of pool "
                f"{one.pool}, and gang {gang.name} of queue {gang.queue} needs {gang.nodes} whole ones"
            )
            fix = "give small jobs a pool of their own, or let them take whole nodes"
            yield finding("QUEUE-027", f"training.jobs.{one.name}.gpusPerNode", message, fix)
            break
