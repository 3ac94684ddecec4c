"""What machines are told: labels, modules, sysctls and kernel arguments that the release takes, each from one owner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import labels
from gpu_platform.planning.image import kernel_args
from gpu_platform.planning.image.machine_config import merge
from gpu_platform.planning.image.machine_needs import contributions
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.planning.image.options import Class


def findings(one: Class) -> Iterator[Finding]:
    """Yield what machines of a class would refuse or read twice."""
    yield from _keys(one)
    yield from _modules(one)
    yield from _arguments(one)
    since = facts.table("machine")["documents"]["talos"]
    if one.documents and minor(one.talos) < minor(f"{since}.0"):
        message = f"Talos {one.talos} has no documents for what this patch says"
        yield finding("IMG-036", f"{one.path}.image.machineConfig", message, f"write legacy, or Talos {since} or newer")
    for conflict in merge(contributions(one))[1]:
        says = " and ".join(
            f"{owner} wants {value}" for owner, value in zip(conflict.owners, conflict.values, strict=True)
        )
        path = conflict.owners[1] if conflict.owners[1].startswith(("image", "inventory")) else one.path
        fix = f"remove it from {path}"
        yield finding("IMG-017", f"{path}.{conflict.setting}", f"two owners of one setting: {says}", fix)


def _keys(one: Class) -> Iterator[Finding]:
    named = [(f"{one.path}.labels.{key}", key) for key in one.pool.labels]
    named += [(f"{one.path}.taints[{index}].key", taint.key) for index, taint in enumerate(one.pool.taints)]
    for path, key in named:
        if why := labels.trouble(key):
            fix = "write a prefix of your own, such as example.com/"
            yield finding("IMG-008", path, f"nodes cannot carry {key!r}: {why}", fix)


def _modules(one: Class) -> Iterator[Finding]:
    """Modules that exist and cannot be loaded: Talos would report the failure at every boot."""
    for path, options in (("image", one.image), (f"{one.path}.image", one.pool.image)):
        for row in facts.table("machine")["cannot_load"]:
            for name in options.modules:
                younger = "before" in row and minor(one.talos) >= minor(f"{row['before']}.0")
                if name.replace("-", "_") == row["module"] and not younger:
                    message = f"module {name} cannot be loaded on Talos ({row['source']})"
                    yield finding("IMG-030", f"{path}.modules.{name}", message, f"write {row['instead']}")


def _arguments(one: Class) -> Iterator[Finding]:
    rows, stated = facts.table("machine"), kernel_args.stated(one)
    for each in stated:
        for row in rows["unknown_argument"]:
            if each.value == row["argument"] or each.value.startswith(f"{row['argument']}="):
                message = f"the kernel does not know {each.value} ({row['source']})"
                yield finding("IMG-031", each.path, message, f"write {row['instead']}")
    first: dict[str, tuple[str, str]] = {}
    for each in stated:
        key, _, value = each.value.partition("=")
        path, old = first.setdefault(key, (each.path, value))
        if key in rows["single_arguments"]["names"] and value != old:
            message = f"{each.value} here and {key}={old} in {path}: the kernel takes the last one"
            yield finding("IMG-017", each.path, message, "keep one")
    floor = rows["uki_cmdline_on_grub"]["talos"]
    if stated and one.bootloader != "sd-boot" and not one.secure_boot and minor(one.talos) < minor(f"{floor}.0"):
        message = f"nodes that boot through GRUB ignore the image's kernel arguments on Talos {one.talos}"
        fix = f"write Talos {floor} or newer, or bootloader: sd-boot if all of them boot through UEFI"
        yield finding("IMG-032", stated[0].path, message, fix)
