"""How planning grows with the number of nodes: its time, and what it registers."""

from __future__ import annotations

import gc
import math
import time
from typing import TYPE_CHECKING, Any

from bench.figures import CouldNotRunError, Figure, slope
from bench.inputs import document
from gpu_platform.planning import plan
from gpu_platform.reports.render import parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.planning.model import Plan

BAR = 1.05
SIZES = (10, 30, 100, 300, 1000)
ROUNDS = 30
# A plan has a part that no node adds to; below this many times that part, growth is not what is seen.
ABOVE = 4


def figures() -> Iterator[Figure]:
    """Yield the exponents of plan time for both ways of writing nodes, and the growth of what is registered."""
    for words, plain in (("with rack and leaf", False), ("as a plain list of names", True)):
        yield _time(words, {size: document(pools=1, nodes=size, plain=plain) for size in (1, *SIZES)})
    few, many = (_registered(_planned(document(pools=1, nodes=size))) for size in (SIZES[0], SIZES[-1]))
    detail = f"{few} objects, releases and images at {SIZES[0]} nodes, {many} at {SIZES[-1]}"
    yield Figure("growth of what is registered", float(many - few), "", 0.0, detail)


def _time(words: str, documents: dict[int, dict[str, Any]]) -> Figure:
    best = _best(documents)
    floor = best.pop(1)
    seen = {size: taken for size, taken in best.items() if taken >= ABOVE * floor}
    if len(seen) < 2:  # a line needs two points
        seen = dict(list(best.items())[-2:])
    detail = f"over {', '.join(map(str, seen))} nodes; {best[SIZES[0]] * 1e3:.1f} ms to {best[SIZES[-1]] * 1e3:.1f} ms"
    return Figure(f"exponent of plan time, nodes {words}", slope(seen), "", BAR, detail)


def _best(documents: dict[int, dict[str, Any]]) -> dict[int, float]:
    """Return the least processor time of a plan for each size; sizes take turns, so that all see the same machine."""
    best = dict.fromkeys(documents, math.inf)
    # What lives here already would be walked by every collection, and make small plans look slower than they are.
    gc.collect()
    gc.freeze()
    try:
        for _ in range(ROUNDS):
            for size, keys in documents.items():
                start = time.process_time()
                _planned(keys)
                best[size] = min(best[size], time.process_time() - start)
    finally:
        gc.unfreeze()
    return best


def _planned(keys: dict[str, Any]) -> Plan:
    found = plan(keys)
    if found.plan is None:
        raise CouldNotRunError(f"the generated stack file has errors: {found.findings[0]}")
    return found.plan


def _registered(made: Plan) -> int:
    return len(made.image.classes) + sum(len(part.manifests) + len(part.releases) for part in parts(made).values())
