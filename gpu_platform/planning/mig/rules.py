"""Layouts that cannot be, and choices that do not fit the cards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning import inventory, mig
from gpu_platform.planning.mig.library import ALL, config_name, indices
from gpu_platform.planning.mig.nodes import chosen, per_gpu, strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.inventory import Pool
    from gpu_platform.settings.root import Settings

Layouts = dict[str, dict[str, tuple[str, ...]]]


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the library and with every choice of it."""
    if settings.gpu is None or settings.inventory is None:
        return
    layouts = settings.gpu.mig.layouts
    pools = settings.inventory.pools.values()
    # Where nodes use it, it is judged on their own cards.
    used = {
        chosen(pool, node) for pool in pools if pool.gpu and mig.capable(pool.gpu.model) for node in pool.nodes.values()
    }
    for name, layout in layouts.items():
        yield from _layout(f"gpu.mig.layouts.{name}", name, layout, used=name in used)
    for pool_name, pool in settings.inventory.pools.items():
        yield from _pool(settings, layouts, f"inventory.pools.{pool_name}", pool)


def _layout(path: str, name: str, layout: dict[str, tuple[str, ...]], *, used: bool) -> Iterator[Finding]:
    if len(label := config_name(name, layout)) > 63:
        message = f"nodes ask for it by label {label}, of {len(label)} characters"
        yield finding("MIG-007", path, message, f"write a name of {63 - len(label) + len(name)} characters at most")
    numbers = [number for key in layout if key != ALL for number in indices(key)]
    if ALL in layout and len(layout) > 1:
        yield finding("MIG-006", path, "all and single GPUs are in one layout", "write either")
    elif twice := sorted({number for number in numbers if numbers.count(number) > 1}):
        yield finding("MIG-006", path, f"GPU {twice[0]} is in two of its groups", "name each GPU once")
    models = facts.table("mig")["gpu"]
    if not used and not any(all(mig.feasible(model, profiles) for profiles in layout.values()) for model in models):
        message = "no card of any model that is known can be cut so"
        profiles = next(iter(sorted(layout.values(), key=len, reverse=True)))
        nearest = mig.suggestion(_likeliest(profiles), profiles)
        yield finding("MIG-002", path, message, nearest)


def _likeliest(profiles: tuple[str, ...]) -> str:
    """Return the model that knows most of these profiles."""
    models: list[str] = list(facts.table("mig")["gpu"])
    return max(models, key=lambda model: sum(one in mig.profiles(model) for one in profiles))


def _pool(settings: Settings, layouts: Layouts, path: str, pool: Pool) -> Iterator[Finding]:
    choices = {f"{path}.nodes.{name}.mig.layout": chosen(pool, node) for name, node in pool.nodes.items() if node.mig}
    choices |= {f"{path}.mig.layout": pool.mig.layout} if pool.mig else {}
    model = pool.gpu.model if pool.gpu else "a pool without GPUs"
    for where, name in choices.items():
        if name is None:
            continue
        if name not in layouts:
            fix = did_you_mean(name, layouts, otherwise="write it under gpu.mig.layouts")
            yield finding("MIG-001", where, f"there is no layout {name!r}", fix)
        elif not mig.capable(model):
            known = ", ".join(facts.table("mig")["gpu"])
            yield finding("MIG-003", where, f"{model} cannot be cut", f"leave mig out; what can: {known}")
        else:
            yield from _cut(settings, where, pool, name, layouts[name])


def _cut(
    settings: Settings, where: str, pool: Pool, name: str, layout: dict[str, tuple[str, ...]]
) -> Iterator[Finding]:
    model, count = pool.gpu.model if pool.gpu else "", inventory.per_node(pool)
    named = {number for key in layout if key != ALL for number in indices(key)}
    if ALL not in layout and named != set(range(count)):
        wrong = sorted(named ^ set(range(count)))
        message = f"layout {name} names GPUs {_numbers(named)}, nodes here have 0 to {count - 1}"
        yield finding("MIG-006", where, message, f"mend GPU {wrong[0]}: an empty list leaves it whole")
    for profiles in dict.fromkeys(layout.values()):
        if reason := mig.trouble(model, profiles):
            message = f"layout {name} does not fit {model}: {reason}"
            yield finding("MIG-002", where, message, mig.suggestion(model, profiles))
        elif profiles and (lost := mig.waste(model, profiles)):
            message = f"layout {name} leaves {lost} of each {model} to nobody"
            yield finding("MIG-005", where, message, "choose larger profiles, or accept it")
    cut = {tuple(sorted(set(one))) for one in per_gpu(layout, count)}
    if strategy(settings) == "single" and (len(cut) > 1 or any(len(one) != 1 for one in cut)):
        message = f"strategy single wants one profile on every GPU of a node; layout {name} has others"
        yield finding("MIG-004", where, message, "write gpu.mig.strategy: mixed, or one profile")


def _numbers(found: set[int]) -> str:
    return ", ".join(map(str, sorted(found)))
