"""Which system extensions a pool's image needs, and whether the Talos release has them."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.model import Extension
from gpu_platform.settings.base import minor, release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.image import Image
    from gpu_platform.settings.inventory import Pool

OPEN = "siderolabs/nvidia-open-gpu-kernel-modules-"
PROPRIETARY = "siderolabs/nonfree-kmod-nvidia-"
TOOLKIT = "siderolabs/nvidia-container-toolkit-"
FABRIC_MANAGER = "siderolabs/nvidia-fabricmanager-"


def track(image: Image, pool: Pool) -> str:
    """Return the driver branch of a pool: production or lts."""
    return pool.image.driver_track or image.driver_track


def kernel_modules(pool: Pool) -> str | None:
    """Return open or proprietary for an NVIDIA pool: what the pool says, else what its cards need, else open."""
    needs = inventory.card(pool).get("modules")
    if needs is None:
        return None
    return pool.image.kernel_modules or str(needs).removesuffix("-only")


def has_nvswitch(pool: Pool) -> bool:
    """Tell whether the pool's boards have NVSwitches, which need the fabric manager."""
    start = inventory.card(pool).get("nvswitch_from")
    return start is not None and inventory.per_node(pool) >= int(start)


def chosen(image: Image, pool: Pool) -> tuple[str, ...]:
    """Return the names of all extensions of a pool's image, sorted and each once."""
    modules, branch = kernel_modules(pool), track(image, pool)
    derived: list[str] = []
    if modules:
        derived = [(OPEN if modules == "open" else PROPRIETARY) + branch, TOOLKIT + branch]
        derived += [FABRIC_MANAGER + branch] if has_nvswitch(pool) else []
    return tuple(sorted({*derived, *image.extensions, *pool.image.extensions}))


def versions(names: tuple[str, ...], talos: str) -> tuple[Extension, ...]:
    """Return the extensions with their versions in this Talos release, None where the facts do not have it."""
    row = talos_release(talos)
    return tuple(Extension(name, _version(name, row)) for name in names)


def talos_release(talos: str) -> dict[str, Any] | None:
    """Return the facts of one Talos point release, or None."""
    rows: list[dict[str, Any]] = facts.table("talos")["release"]
    return next((row for row in rows if row["version"] == talos.removeprefix("v")), None)


def _version(name: str, row: dict[str, Any] | None) -> str | None:
    known = next((one for one in facts.table("talos")["extension"] if one["name"] == name), None)
    if row is None or known is None or "tag" not in known:
        return None
    values = {key: row[key] for key in ("lts", "production", "toolkit") if key in row}
    try:
        return str(known["tag"]).format(talos=f"v{row['version']}", **values)
    except KeyError:
        return None


def findings(path: str, image: Image, pool: Pool, talos: str) -> Iterator[Finding]:
    """Yield what is wrong with the extensions of one pool; `path` is the pool's."""
    rows = {row["name"]: row for row in facts.table("talos")["extension"]}
    here = {name for name, row in rows.items() if _within(row, talos)}
    for where, names in ((f"{path}.image.extensions", pool.image.extensions), ("image.extensions", image.extensions)):
        for index, name in enumerate(names):
            yield from _name(f"{where}[{index}]", name, talos, here)
    names = chosen(image, pool)
    yield from _flavours(path, names)
    for name in names:
        stated = name in {*image.extensions, *pool.image.extensions}
        if not stated and name not in here and _known_minor(talos):
            yield finding(
                "IMG-004", path, f"Talos {talos} has no extension {name}", "choose another Talos release or track"
            )
    yield from _card(path, image, pool, talos)


def _within(row: dict[str, Any], talos: str) -> bool:
    until = row.get("until")
    return minor(row["since"] + ".0") <= minor(talos) and (until is None or minor(talos) <= minor(str(until) + ".0"))


def _known_minor(talos: str) -> bool:
    return any(minor(row["version"]) == minor(talos) for row in facts.table("talos")["release"])


def _name(path: str, name: str, talos: str, here: set[str]) -> Iterator[Finding]:
    """Refuse a name that this release is known not to have; names the facts do not list are the factory's to judge."""
    alias = {row["old"]: row["new"] for row in facts.table("talos").get("alias", ())}
    if not name.startswith("siderolabs/"):
        yield finding(
            "IMG-004", path, f"{name!r} is no official extension name", f"write siderolabs/{name.rpartition('/')[2]}"
        )
    elif name in alias:
        yield finding("IMG-004", path, f"{name} is an old name", f"write {alias[name]}")
    elif name not in here and (any(name == row["name"] for row in facts.table("talos")["extension"])):
        yield finding(
            "IMG-004", path, f"Talos {talos} has no extension {name}", "remove it or choose another Talos release"
        )
    elif name not in here and (near := _nearest(name, here)):
        yield finding("IMG-004", path, f"Talos {talos} has no extension {name}", f"did you mean {near}?")


def _nearest(name: str, known: set[str]) -> str | None:
    """Return the known name that this one is most likely a misspelling of, the common prefix left out."""
    short = {one.rpartition("/")[2]: one for one in known}
    near = difflib.get_close_matches(name.rpartition("/")[2], short, n=1, cutoff=0.75)
    return short[near[0]] if near else None


def _flavours(path: str, names: tuple[str, ...]) -> Iterator[Finding]:
    """One family and one flavour of NVIDIA modules, and everything beside them of the same flavour."""
    modules = [name for name in names if name.startswith((OPEN, PROPRIETARY))]
    if len(modules) > 1:
        message = f"{modules[0]} and {modules[1]} are in one image"
        yield finding("IMG-009", f"{path}.image", message, "keep one: driverTrack and kernelModules choose it")
        return
    for prefix in (TOOLKIT, FABRIC_MANAGER):
        for name in (name for name in names if name.startswith(prefix)):
            if not modules:
                yield finding(
                    "IMG-009", f"{path}.image", f"{name} has no NVIDIA kernel modules beside it", f"remove {name}"
                )
            elif modules[0].rsplit("-", 1)[1] != name.rsplit("-", 1)[1]:
                message = f"{name} and {modules[0]} are of different flavours"
                yield finding("IMG-009", f"{path}.image", message, "remove the one that was added by hand")


def _card(path: str, image: Image, pool: Pool, talos: str) -> Iterator[Finding]:
    needs, modules = str(inventory.card(pool).get("modules", "")), kernel_modules(pool)
    if needs.endswith("-only") and modules != needs.removesuffix("-only"):
        message = f"{pool.gpu.model if pool.gpu else ''} works only with {needs.removesuffix('-only')} kernel modules"
        yield finding("IMG-006", f"{path}.image.kernelModules", message, f"write {needs.removesuffix('-only')}")
    row, dropped = talos_release(talos), facts.table("compat")["nvidia_590"]
    driver = row.get(track(image, pool)) if row else None
    family = inventory.card(pool).get("family")
    if driver and family in dropped["families"] and release(_three(driver))[0] >= dropped["branch"]:
        message = f"driver {driver} of Talos {talos} no longer drives {family} cards"
        yield finding(
            "IMG-007", f"{path}.image.driverTrack", message, "write lts, if its branch is older, or keep an older Talos"
        )
    blackwell = facts.table("compat")["blackwell_hgx"]
    if family == "blackwell" and has_nvswitch(pool) and minor(talos) < minor(blackwell["talos"] + ".0"):
        message = f"the fabric manager of Talos {talos} cannot run NVLink 5 boards"
        yield finding("IMG-001", path, message, f"write Talos {blackwell['talos']} or newer")


def _three(driver: str) -> str:
    first, second, *rest = driver.split(".")
    return f"{first}.{second}.{rest[0] if rest else 0}"
