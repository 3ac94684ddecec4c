"""The compatibility matrix: what must not be older while something else is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning.fabric import modes
from gpu_platform.planning.image import extensions
from gpu_platform.planning.image.classes import classes
from gpu_platform.planning.operators.catalogue import version
from gpu_platform.planning.operators.kinds import wanted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield every row of the matrix that this stack violates, and a Kubernetes that a row needs and nobody states."""
    there, stated = _there(settings), _stated(settings)
    rows = [row for row in facts.table("compat")["row"] if row["when"] in there]
    if "kubernetes" not in stated and (needy := [row for row in rows if row["when"] == "claims"]):
        message = f"{needy[0]['what']}, and nobody says which Kubernetes this is"
        yield finding("COMPAT-008", "cluster.kubernetesVersion", message, f"write v{needy[0]['floor']} or newer")
    for row in rows:
        for path, found in stated.get(row["of"], ()):
            if _numbers(found) < _numbers(row.get("floor", "0")):
                message = f"{row['of']} {found} is older than {row['floor']}: {row['what']}"
                yield finding(row["rule"], path, message, f"write {row['floor']} or newer")
            elif _numbers(found)[:2] > _numbers(row.get("ceiling", "9999")):
                message = f"{row['of']} {found} is newer than {row['ceiling']}: {row['what']}"
                yield finding(row["rule"], path, message, f"write a release of {row['ceiling']}, or try it out first")


def _there(settings: Settings) -> set[str]:
    """Return the operators that are needed, and whether cards or rails are claimed."""
    pools = settings.inventory.pools.values() if settings.inventory else ()
    claimed = modes.runs(settings, "dranet") or any(pool.allocation == "dra" and pool.gpu for pool in pools)
    claims = {"claims"} if claimed else set()
    return {*wanted(settings), *claims}


def _stated(settings: Settings) -> dict[str, list[tuple[str, str]]]:
    """Return the versions of everything that has one, with the path where it is said."""
    kubernetes = settings.cluster.kubernetes_version if settings.cluster else None
    found = {"kubernetes": [("cluster.kubernetesVersion", kubernetes)]} if kubernetes else {}
    for name, operator in wanted(settings).items():
        found[name] = [(f"operators.{name}.version", version(name, operator))]
    drivers = ((one.path, extensions.driver(extensions.chosen(one), one.talos)) for one in classes(settings))
    found["driver"] = [(f"{path}.image", driver) for path, driver in drivers if driver]
    return found


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", text)[:3])
