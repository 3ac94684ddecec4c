"""Cards and NICs against the driver, the kernel modules and the kernel of the Talos release."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.image import extensions, kernel_args
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.planning.image.options import Class


def findings(one: Class) -> Iterator[Finding]:
    """Yield what the hardware of a class cannot do with its image."""
    yield from _modules(one)
    yield from _driver(one)
    yield from _boards(one)
    yield from _rdma(one)
    if inventory.card(one.pool).get("vendor") == "intel":
        message = f"no Talos release drives {_model(one)}: the kernel is built without its driver"
        yield finding("IMG-027", f"{one.path}.gpu.model", message, "write os: other for this pool")


def _model(one: Class) -> str:
    return one.pool.gpu.model if one.pool.gpu else ""


def _modules(one: Class) -> Iterator[Finding]:
    needs = str(inventory.card(one.pool).get("modules", ""))
    right = needs.removesuffix("-only")
    if needs.endswith("-only") and one.kernel_modules != right:
        message = f"{_model(one)} works only with {right} kernel modules"
        yield finding("IMG-006", f"{one.path}.image.kernelModules", message, f"write {right}")


def _driver(one: Class) -> Iterator[Finding]:
    """The branch must still know the card, and already know it."""
    driver = extensions.driver(extensions.chosen(one), one.talos)
    if driver is None:
        return
    path, family = f"{one.path}.image.driverTrack", inventory.card(one.pool).get("family")
    dropped, floor = facts.table("compat")["nvidia_590"], inventory.card(one.pool).get("driver_floor", 0)
    branch = int(driver.split(".")[0])
    told = f"driver {driver} of Talos {one.talos} ({one.track})"
    if family in dropped["families"] and branch >= dropped["branch"]:
        fix = _other_track(one, lambda other: other < dropped["branch"])
        yield finding("IMG-007", path, f"{told} no longer drives {family} cards", fix)
    if branch < floor:
        fix = _other_track(one, lambda other: other >= floor)
        yield finding("IMG-011", path, f"{told} does not know {_model(one)} yet, which needs {floor} or newer", fix)


def _other_track(one: Class, fits: Callable[[int], bool]) -> str:
    """Return what to write instead: the other branch of this release when it fits, else another release."""
    other = "lts" if one.track == "production" else "production"
    row = extensions.talos_release(one.talos) or {}
    if other in row and fits(int(row[other].split(".")[0])):
        return f"write driverTrack: {other} ({row[other]})"
    rows = facts.table("talos")["release"]
    known = [(each["version"], track) for each in rows for track in ("production", "lts") if fits(int(each[track][:3]))]
    return f"write Talos v{known[-1][0]} with driverTrack: {known[-1][1]}" if known else "no known release has one"


def _boards(one: Class) -> Iterator[Finding]:
    row, blackwell = facts.table("machine")["blackwell_hgx"], inventory.card(one.pool).get("family") == "blackwell"
    if blackwell and one.has_nvswitch and minor(one.talos) < minor(row["talos"] + ".0"):
        message = f"the fabric manager of Talos {one.talos} cannot run NVLink 5 boards"
        yield finding("IMG-013", one.path, message, f"write Talos {row['talos']} or newer")
    if blackwell and one.architecture == "arm64":
        message = f"Talos documents ask for proprietary modules on {_model(one)}, NVIDIA for open ones"
        yield finding("IMG-029", one.path, message, "try one node before the others; open modules are chosen here")


def _rdma(one: Class) -> Iterator[Finding]:
    for name in one.rdma:
        row = facts.table("machine")["rdma"][name]
        if "talos" not in row:
            message = f"no Talos release has RDMA driver {name}"
            yield finding("IMG-025", f"{one.path}.image.rdma", message, f"remove {name}, or write os: other")
        elif minor(one.talos) < minor(row["talos"] + ".0"):
            message = f"Talos {one.talos} has no RDMA driver {name}"
            yield finding("IMG-025", f"{one.path}.image.rdma", message, f"write Talos {row['talos']} or newer")
    if one.rdma and one.pool.gpu:
        yield from _gpudirect(one)


def _gpudirect(one: Class) -> Iterator[Finding]:
    row, path = facts.table("machine")["gpudirect"], f"{one.path}.image.rdma"
    if minor(one.talos) < minor(row["talos"] + ".0"):
        message = f"Talos {one.talos} cannot do GPUDirect: RDMA goes through the host's memory"
        yield finding("IMG-028", path, message, f"write Talos {row['talos']} or newer")
    elif one.kernel_modules and one.kernel_modules != row["modules"]:
        message = f"{one.kernel_modules} kernel modules cannot do GPUDirect: RDMA goes through the host's memory"
        yield finding("IMG-028", path, message, f"write kernelModules: {row['modules']}, if the cards allow it")
    if not any(each.startswith(("iommu=", "iommu.", "amd_iommu=")) for each in kernel_args.kernel_args(one)):
        message = "GPUDirect traffic is translated by the IOMMU, which costs bandwidth"
        yield finding("IMG-026", path, message, "write kernelArgs: [iommu=pt], or iommu=nopt to keep it")
