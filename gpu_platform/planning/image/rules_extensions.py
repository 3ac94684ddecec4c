"""Extensions: names that the release has, one family and flavour of modules, content for the architecture."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning.image import extensions
from gpu_platform.planning.image.extensions import FABRIC_MANAGER, OPEN, PROPRIETARY, TOOLKIT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.planning.image.options import Class


def findings(one: Class) -> Iterator[Finding]:
    """Yield what is wrong with the extensions of a class."""
    for each in one.stated_list("extensions", "extensions"):
        yield from _name(each.path, each.value, one.talos)
    names = extensions.chosen(one)
    yield from _flavours(one, names)
    yield from _empty(one, names)
    if one.default_runtime and not one.kernel_modules:
        message = (
            f"containerd cannot start containers with runtime {one.default_runtime.value}: no image part brings it"
        )
        yield finding(
            "IMG-024", one.default_runtime.path, message, "remove defaultRuntime from pools without its cards"
        )


def _name(path: str, name: str, talos: str) -> Iterator[Finding]:
    """Refuse a name that this release is known not to have; names the facts do not list are the factory's to judge."""
    known, here = extensions.known(), extensions.here(talos)
    aliases = {row["old"]: row["new"] for row in facts.table("talos")["alias"]}
    lacks = f"Talos {talos} has no extension {name}"
    if not name.startswith("siderolabs/"):
        fix = f"write siderolabs/{name.rpartition('/')[2]}"
        yield finding("IMG-004", path, f"{name!r} is no official extension name", fix)
    elif name in aliases:
        yield finding("IMG-004", path, f"{name} is an old name", f"write {aliases[name]}")
    elif name in known and name not in here:
        fix = f"remove it, or choose Talos {known[name]['since']} or newer"
        yield finding("IMG-004", path, lacks, fix)
    elif name not in known and (near := _nearest(name, here)):
        yield finding("IMG-004", path, lacks, f"did you mean {near}?")


def _nearest(name: str, known: set[str]) -> str | None:
    """Return the known name that this one is most likely a misspelling of, the common prefix left out."""
    short = {one.rpartition("/")[2]: one for one in known}
    near = difflib.get_close_matches(name.rpartition("/")[2], short, n=1, cutoff=0.75)
    return short[near[0]] if near else None


def _flavours(one: Class, names: tuple[str, ...]) -> Iterator[Finding]:
    """One family and one flavour of NVIDIA modules, and everything beside them of the same flavour."""
    path = f"{one.path}.image"
    modules = [name for name in names if name.startswith((OPEN, PROPRIETARY))]
    if len(modules) > 1:
        message = f"{modules[0]} and {modules[1]} are in one image"
        yield finding("IMG-009", path, message, "keep one: driverTrack and kernelModules choose it")
        return
    for name in names:
        beside = name.startswith((TOOLKIT, FABRIC_MANAGER))
        needs = extensions.known().get(name, {}).get("modules")
        if (beside or needs) and not modules:
            message = f"{name} has no NVIDIA kernel modules beside it"
            yield finding("IMG-009", path, message, f"remove {name}")
        elif beside and modules[0].rsplit("-", 1)[1] != name.rsplit("-", 1)[1]:
            message = f"{name} and {modules[0]} are of different flavours"
            yield finding("IMG-009", path, message, "remove the one that was added by hand")
        elif needs == "open" and not modules[0].startswith(OPEN):
            message = f"{name} needs the open kernel modules; this image has {modules[0]}"
            yield finding("IMG-009", path, message, f"remove {name}, or write kernelModules: open")
        if name.startswith(FABRIC_MANAGER) and modules and not one.has_nvswitch:
            message = f"{name} finds no NVSwitch on these boards, and its service restarts for ever"
            yield finding("IMG-012", path, message, f"remove {name}")


def _empty(one: Class, names: tuple[str, ...]) -> Iterator[Finding]:
    for name in names:
        content = extensions.known().get(name, {}).get("content")
        if content and one.architecture not in content:
            message = f"{name} is empty on {one.architecture}: it would be installed and do nothing"
            ours = name in extensions.derived(one)
            fix = f"write architecture: {content[0]}" if ours else f"leave it out, or use nodes of {content[0]}"
            yield finding("IMG-010", f"{one.path}.{'architecture' if ours else 'image'}", message, fix)
