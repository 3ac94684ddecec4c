"""Several Talos releases at once: nodes upgrade by adjacent minors, and one pool should not mix drivers for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.image import extensions
from gpu_platform.planning.image.classes import classes
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.inventory import Pool
    from gpu_platform.settings.root import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the releases of the nodes of each pool."""
    assert settings.inventory is not None  # noqa: S101 - checked by the caller
    for name, pool in settings.inventory.pools.items():
        yield from _adjacent(settings, name, pool)
    yield from _drivers(settings)
    yield from _documents(settings)


def _adjacent(settings: Settings, name: str, pool: Pool) -> Iterator[Finding]:
    goal = inventory.talos_version(settings, pool)
    for node_name, node in pool.nodes.items():
        own = node.talos_version
        in_use = inventory.state(node)["image"]
        if goal and own and in_use and abs(minor(own)[1] - minor(goal)[1]) > 1 and not pool.image.reinstall:
            between = extensions.newest_of((minor(own)[0], minor(own)[1] + (1 if minor(goal) > minor(own) else -1)))
            message = f"node {node_name} runs {own} and its pool {goal}: Talos upgrades by one minor at a time"
            path = f"inventory.pools.{name}.nodes.{node_name}.talosVersion"
            yield finding("IMG-015", path, message, f"write {between} here first")


def _drivers(settings: Settings) -> Iterator[Finding]:
    found: dict[str, dict[str, str]] = {}
    for one in classes(settings):
        driver = extensions.driver(extensions.chosen(one), one.talos)
        if driver:
            found.setdefault(one.path, {})[one.talos] = driver
    for path, drivers in found.items():
        if len({driver.split(".")[0] for driver in drivers.values()}) > 1:
            told = ", ".join(f"{driver} on Talos {talos}" for talos, driver in drivers.items())
            message = f"nodes of this pool run different driver branches: {told}"
            yield finding("IMG-033", path, message, "let no gang span both, and finish the rollout")


def _documents(settings: Settings) -> Iterator[Finding]:
    """A pool whose nodes cross the release of documents was configured before it, so that its nodes refuse them."""
    since = minor(facts.table("machine")["documents"]["talos"] + ".0")
    older = {one.path for one in classes(settings) if minor(one.talos) < since}
    for one in classes(settings):
        if one.documents and one.path in older and minor(one.talos) >= since and not one.pool.image.reinstall:
            message = f"nodes go to Talos {one.talos} with a configuration of an older one, which takes no documents"
            yield finding("IMG-037", f"{one.path}.image.machineConfig", message, "write machineConfig: legacy")
