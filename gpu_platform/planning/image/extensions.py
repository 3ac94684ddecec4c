"""Which system extensions a class needs, and what a Talos release holds of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.planning.model import Extension
from gpu_platform.settings.base import minor, release

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpu_platform.planning.image.options import Class

OPEN = "siderolabs/nvidia-open-gpu-kernel-modules-"
PROPRIETARY = "siderolabs/nonfree-kmod-nvidia-"
TOOLKIT = "siderolabs/nvidia-container-toolkit-"
FABRIC_MANAGER = "siderolabs/nvidia-fabricmanager-"
AMD = ("siderolabs/amd-ucode", "siderolabs/amdgpu")
REGISTRY = "ghcr.io"


def derived(one: Class) -> dict[str, str]:
    """Return the extensions that the class needs for its hardware, whatever else is asked for, and why."""
    if inventory.card(one.pool).get("vendor") == "amd":
        return dict.fromkeys(AMD, "driver and microcode of AMD cards")
    if not one.kernel_modules:
        return {}
    modules = OPEN if one.kernel_modules == "open" else PROPRIETARY
    model = one.pool.gpu.model if one.pool.gpu else ""
    return {
        modules + one.track: f"{one.kernel_modules} kernel modules drive {model}",
        TOOLKIT + one.track: "containers find the driver through it",
        **({FABRIC_MANAGER + one.track: f"boards of {model} have NVSwitches"} if one.has_nvswitch else {}),
        **_gdrcopy(one),
    }


def _gdrcopy(one: Class) -> dict[str, str]:
    """GPUDirect over InfiniBand and RoCE needs it, and it comes with the open modules alone."""
    row = facts.table("machine")["gpudirect"]
    works = one.kernel_modules == row["modules"] and minor(one.talos) >= minor(row["talos"] + ".0")
    name = facts.table("machine")["gdrdrv"]["extension"]
    return {name: "NCCL's GPUDirect over RDMA needs GDRCopy"} if one.rdma and works else {}


def reasons(one: Class) -> dict[str, str]:
    """Return every extension of a class and why it is there, what is written before what is derived."""
    stated: dict[str, str] = {}
    for each in one.stated_list("extensions", "extensions"):
        stated.setdefault(each.value, f"asked for in {each.path}")
    return stated | derived(one)


def chosen(one: Class) -> tuple[str, ...]:
    """Return the names of all extensions of a class: sorted, or as they are written with the rest behind."""
    names = tuple(reasons(one))
    as_written = (one.pool.image.extension_order or one.image.extension_order) == "asWritten"
    return names if as_written else tuple(sorted(names))


def details(one: Class) -> tuple[Extension, ...]:
    """Return the extensions of a class with reason, version and image."""
    row, why = talos_release(one.talos), reasons(one)
    found = []
    for name in chosen(one):
        version = _version(name, row)
        found.append(Extension(name, why[name], version, f"{REGISTRY}/{name}:{version}" if version else None))
    return tuple(found)


def known() -> dict[str, dict[str, Any]]:
    """Return the facts of every extension by name."""
    return {row["name"]: row for row in facts.table("talos")["extension"]}


def here(talos: str) -> set[str]:
    """Return the names that the facts know a Talos release to have."""
    return {name for name, row in known().items() if minor(row["since"] + ".0") <= minor(talos)}


def talos_release(talos: str) -> dict[str, Any] | None:
    """Return the facts of one Talos point release, or None."""
    rows: list[dict[str, Any]] = facts.table("talos")["release"]
    return next((row for row in rows if row["version"] == talos.removeprefix("v")), None)


def newest_of(wanted: tuple[int, int]) -> str:
    """Return the newest release of a minor that the facts know, or its first where they know none."""
    rows = [row["version"] for row in facts.table("talos")["release"] if minor(row["version"]) == wanted]
    return f"v{max(rows, key=release)}" if rows else f"v{wanted[0]}.{wanted[1]}.0"


def _version(name: str, row: dict[str, Any] | None) -> str | None:
    tag = known().get(name, {}).get("tag")
    return str(tag).format(**{**row, "talos": f"v{row['version']}"}) if row and tag else None


def driver(names: Iterable[str], talos: str) -> str | None:
    """Return the NVIDIA driver version of an image with these extensions; None where there is none or it is unknown."""
    row = talos_release(talos)
    modules = [name for name in names if name.startswith((OPEN, PROPRIETARY))]
    return row.get(modules[0].rsplit("-", 1)[1]) if row and modules else None
