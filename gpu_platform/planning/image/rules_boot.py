"""Schematic fields: predictable bytes, floors of factory and release, secure boot, embedded configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning.image.classes import schematic
from gpu_platform.planning.image.options import Stated
from gpu_platform.planning.schematic import unpredictable
from gpu_platform.settings.base import minor, release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.planning.image.options import Class
    from gpu_platform.settings.root import Settings

# Keys of a machine configuration whose values open a cluster.
_SECRET_KEYS = re.compile(
    r"token|secret|password|passwd|auth|identitytoken|privatekey|key|aescbcencryptionsecret|secretboxencryptionsecret",
    re.IGNORECASE,
)
_SECRET_ARGUMENT = re.compile(
    r"(^|[._-])(token|secret|password|passwd|apikey|api_key)=.|://[^/@\s]*:[^/@\s]+@", re.IGNORECASE
)


def section(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the factory of section image."""
    assert settings.image is not None  # noqa: S101 - checked by the caller
    factory, secrets = settings.image.factory, settings.secrets
    if factory.owner:
        yield from _predictable(Stated("image.factory.owner", factory.owner))
    if factory.username and "factoryPassword" not in secrets:
        fix = "run pulumi config set --secret gpu-platform:factoryPassword"
        yield finding("IMG-023", "image.factory.username", "a user name without a password", fix)
    if "factoryPassword" in secrets and not factory.username:
        fix = "write the name, or use factoryToken"
        yield finding(
            "IMG-023", "image.factory.username", "factoryPassword belongs to a user name that is missing", fix
        )
    if {"factoryPassword", "factoryToken"} <= secrets:
        message = "the factory has two credentials, factoryToken and factoryPassword"
        yield finding("IMG-023", "factoryToken", message, "keep the one that the factory asks for")
    if factory.mode == "offline":
        message = "nothing is registered with the Image Factory: nodes cannot pull an image that nobody registered"
        yield finding("IMG-022", "image.factory.mode", message, "register the output of `schematic`, or write online")


def findings(one: Class) -> Iterator[Finding]:
    """Yield what is wrong with the document of a class."""
    for each in (*one.stated_list("kernelArgs", "kernel_args"), *one.stated_list("extensions", "extensions")):
        yield from _predictable(each)
    for path, options in (("image", one.image), (f"{one.path}.image", one.pool.image)):
        for index, one_value in enumerate(options.meta):
            yield from _predictable(Stated(f"{path}.meta[{index}]", one_value.value))
        if len({value.key for value in options.meta}) < len(options.meta):
            yield finding("IMG-020", f"{path}.meta", "one META key stands twice", "keep one value for each key")
        for key, text in options.overlay.options.items() if options.overlay else ():
            yield from _predictable(Stated(f"{path}.overlay.options.{key}", text))
        for field in ("image", "name") if options.overlay else ():
            yield from _predictable(Stated(f"{path}.overlay.{field}", getattr(options.overlay, field)))
    yield from _embedded(one)
    yield from _floors(one)
    yield from _secure_boot(one)
    for each in one.stated_list("kernelArgs", "kernel_args"):
        if _SECRET_ARGUMENT.search(each.value):
            message = "this looks like a secret, and whoever knows the image's ID can read its arguments"
            yield finding("IMG-021", each.path, message, "hand it to the machine in another way")


def _predictable(stated: Stated) -> Iterator[Finding]:
    if reason := unpredictable(stated.value):
        yield finding("IMG-005", stated.path, reason, "write it in another way, or leave it out")


def _embedded(one: Class) -> Iterator[Finding]:
    if one.embedded is None:
        return
    yield from _predictable(one.embedded)
    try:
        documents = list(yaml.safe_load_all(one.embedded.value))
        secrets = sorted({place for each in documents for place in _secrets(each)})
    except (yaml.YAMLError, RecursionError, ValueError):
        documents, secrets = [None], []
    if not documents or not all(isinstance(each, dict) for each in documents):
        message = "this is no machine configuration: Talos would not boot with it"
        yield finding("IMG-019", one.embedded.path, message, "write YAML documents, such as kind: HostnameConfig")
        return
    for place in secrets:
        message = f"{place} is a secret, and whoever knows the image's ID can read it"
        yield finding("IMG-018", one.embedded.path, message, "leave it to the configuration that is applied later")


def _secrets(value: Any, path: str = "") -> Iterator[str]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        where = f"{path}.{key}".lstrip(".")
        # `key` is also the name of a taint's key: private keys are long.
        if isinstance(inner, str) and _SECRET_KEYS.fullmatch(str(key)) and len(inner) > (40 if key == "key" else 0):
            yield where
        else:
            yield from _secrets(inner, where)


def _floors(one: Class) -> Iterator[Finding]:
    """Fields that the release of Talos, or the release of a factory that says so, does not know."""
    document, stated = schematic(one), one.image.factory.version
    used = {
        "owner": bool(document.owner),
        "bootloader": bool(document.bootloader),
        "diskSectorSize": bool(document.sector_size),
        "embeddedMachineConfiguration": bool(document.embedded_machine_configuration),
        "enrollKeys": bool(document.enroll_keys),
    }
    for field, row in facts.table("factory")["field"].items():
        if not used[field]:
            continue
        if "talos" in row and minor(one.talos) < minor(row["talos"] + ".0"):
            message = f"Talos {one.talos} does not know {field}"
            yield finding("IMG-014", one.path, message, f"remove it, or write Talos {row['talos']} or newer")
        if stated and release(stated) < release(row["factory"]):
            message = f"an Image Factory {stated} does not know {field}"
            yield finding("IMG-014", "image.factory.version", message, f"remove it, or use {row['factory']} or newer")


def _secure_boot(one: Class) -> Iterator[Finding]:
    lockdown = facts.table("machine")["lockdown"]
    for name in lockdown["extensions"]:
        locked = one.secure_boot and minor(one.talos) <= minor(f"{lockdown['until']}.0")
        if locked and name in schematic(one).extensions:
            message = (
                f"{name} cannot reach its devices: secure boot locks the kernel down up to Talos {lockdown['until']}"
            )
            fix = "set firmware options before secure boot, or leave it out"
            yield finding("IMG-038", f"{one.path}.image", message, fix)
    if one.secure_boot and one.bootloader in {"grub", "dual-boot"}:
        message = f"secure boot starts through sd-boot, not {one.bootloader}"
        yield finding("IMG-016", f"{one.path}.image", message, "write bootloader: sd-boot, or leave it out")
    for path, options in ((f"{one.path}.image", one.pool.image), ("image", one.image)):
        off = options.secure_boot
        if off and not off.enabled and (off.enroll_keys or off.include_well_known_certificates):
            message = "keys are enrolled only where secure boot is on"
            yield finding("IMG-016", f"{path}.secureBoot", message, "write enabled: true, or leave the rest out")
