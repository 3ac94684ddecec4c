"""Ways of sharing that do not exist, do not go with slices, or share what a node does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning import inventory
from gpu_platform.planning.mig.nodes import chosen as layout_of
from gpu_platform.planning.mig.nodes import strategy, unshared
from gpu_platform.planning.sharing.configs import configs, resource, short, ways

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.gpu import Sharing
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

_LONGEST = 63


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with how cards are shared."""
    for name, one in ways(settings).items():
        yield from _slices_under_mps(f"gpu.sharing.{name}", one)
    for config in configs(settings):
        if len(config.key) > _LONGEST:
            message = f"nodes ask for it by label {config.key}, of {len(config.key)} characters"
            most = _LONGEST - len(config.key) + len(config.name)
            fix = f"write a name of {most} characters at most"
            yield finding("GPU-009", f"gpu.sharing.{config.name}", message, fix)
            break
    for name, pool in settings.inventory.pools.items() if settings.inventory else ():
        path = f"inventory.pools.{name}"
        places = {f"{path}.nodes.{each}": [node] for each, node in pool.nodes.items() if node.sharing}
        places |= {path: [node for node in pool.nodes.values() if not node.sharing]} if pool.sharing else {}
        for place, nodes in places.items():
            choice = nodes[0].sharing if place != path else pool.sharing
            if choice and choice.config:
                yield from _choice(settings, f"{place}.sharing.config", pool, nodes, choice.config)


def _slices_under_mps(path: str, one: Sharing) -> Iterator[Finding]:
    for name in one.resources:
        if one.mode == "mps" and name != "gpu":
            yield finding("GPU-007", f"{path}.resources", f"MPS shares whole cards only, not {name}", "leave it out")


def _choice(settings: Settings, where: str, pool: Pool, nodes: list[Node], way: str) -> Iterator[Finding]:
    known = ways(settings)
    if way not in known:
        fix = did_you_mean(way, known, otherwise="write it under gpu.sharing")
        yield finding("GPU-005", where, f"there is no way of sharing {way!r}", fix)
    elif inventory.card(pool).get("vendor") != "nvidia":
        what = pool.gpu.model if pool.gpu else "a pool without GPUs"
        yield finding("GPU-006", where, f"{what} is not handed out by NVIDIA's device plugin", "leave sharing out")
    elif pool.allocation == "dra":
        message = "its cards are handed out by claims (allocation: dra), and only the device plugin shares"
        yield finding("GPU-006", where, message, "write allocation: devicePlugin, or leave sharing out")
    elif known[way].mode == "mps":
        yield from _mps(settings, where, pool, nodes, way)
    else:
        yield from _absent(settings, where, pool, nodes, way)


def _mps(settings: Settings, where: str, pool: Pool, nodes: list[Node], way: str) -> Iterator[Finding]:
    """MPS and MIG: the device plugin starts neither under strategy mixed nor with slices."""
    if settings.gpu and settings.gpu.mig.layouts and strategy(settings) == "mixed":
        message = f"way {way} is MPS, and under gpu.mig.strategy mixed the device plugin does not start with it"
        yield finding("GPU-007", where, message, "write mode: timeSlicing, or gpu.mig.strategy: single")
    elif any(layout_of(pool, node) for node in nodes):
        message = f"way {way} is MPS, with which the device plugin does not start where cards are cut, as here"
        yield finding("GPU-007", where, message, "write mode: timeSlicing, or leave mig out")


def _absent(settings: Settings, where: str, pool: Pool, nodes: list[Node], way: str) -> Iterator[Finding]:
    """What a way names by resource has to be there: the device plugin ignores the rest in silence."""
    for name in ways(settings)[way].resources:
        for node in nodes:
            has = {short(each) for each in unshared(settings, pool, node)}
            if inventory.state(node)["patched"] and short(resource(name)) not in has:
                message = f"way {way} shares {name}, and nodes here have {', '.join(sorted(has))} only"
                yield finding("GPU-008", where, message, "name what they have, or use another way")
                break
