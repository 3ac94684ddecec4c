"""How fast a layout is judged, against trying every placement of it; both judge the same multisets."""

from __future__ import annotations

import time
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

from bench.figures import CouldNotRunError, Figure
from gpu_platform import facts
from gpu_platform.planning import mig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MODEL, REPETITIONS = "h100-sxm-80gb", 5
BAR = 1 / 50


def figures() -> Iterator[Figure]:
    """Yield the ratio of the solver's time to exhaustive placement over all multisets of up to eight profiles."""
    names = sorted(mig.profiles(MODEL))
    sets = [one for size in range(9) for one in combinations_with_replacement(names, size)]
    ours, theirs = [mig.feasible(MODEL, one) for one in sets], [placeable(one) for one in sets]
    if ours != theirs:
        raise CouldNotRunError("the solver and exhaustive placement do not agree")
    fast, slow = _best(lambda one: mig.feasible(MODEL, one), sets), _best(placeable, sets)
    detail = f"{slow / fast:.0f}x faster; {fast / len(sets) * 1e6:.1f} us a layout, {len(sets)} layouts"
    yield Figure("MIG legality to exhaustive placement", fast / slow, "x", BAR, detail)


def placeable(names: tuple[str, ...]) -> bool:
    """Try every start of every profile, as somebody without a thought would."""
    row = facts.table("mig")["gpu"][MODEL]
    part = facts.table("mig")["part"][row["part"]]
    kinds = {name: part["profile"][kind] for kind, name in row["names"].items()}
    return _place([kinds[name] for name in names], frozenset(range(part["memory"])), part["compute"], 1)


def _place(left: list[dict[str, Any]], free: frozenset[int], compute: int, media: int) -> bool:
    if not left:
        return True
    one, rest = left[0], left[1:]
    if one["compute"] > compute or one.get("media", 0) > media:
        return False
    for start in one["starts"]:
        taken = frozenset(range(start, start + one["memory"]))
        if taken <= free and _place(rest, free - taken, compute - one["compute"], media - one.get("media", 0)):
            return True
    return False


def _best(judge: Callable[[tuple[str, ...]], bool], sets: list[tuple[str, ...]]) -> float:
    taken = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        for one in sets:
            judge(one)
        taken.append(time.perf_counter() - began)
    return min(taken)
