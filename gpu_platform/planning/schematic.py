"""The Image Factory's schematic: its document, the canonical bytes, and the ID that follows from them."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_platform.planning.go_yaml import scalar, unpredictable
from gpu_platform.strict_yaml import NotYaml, load

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Schematic", "SchematicError", "canonical", "normalised", "parse", "schematic_id", "unpredictable"]


class SchematicError(Exception):
    """One sentence: why this is no schematic that we can work with."""


@dataclass(frozen=True)
class Schematic:
    """Everything that an image is made of; fields in the order of the factory's own document."""

    owner: str = ""
    overlay_image: str = ""
    overlay_name: str = ""
    embedded_machine_configuration: str = ""
    extra_kernel_args: tuple[str, ...] = ()
    meta: tuple[tuple[int, str], ...] = ()
    extensions: tuple[str, ...] = ()
    bootloader: str = ""
    enroll_keys: str = ""
    include_well_known_certificates: bool = False
    sector_size: int = 0


def schematic_id(text: str) -> str:
    """Return the ID of a canonical document: 64 hexadecimal digits, the SHA-256 of its bytes."""
    return hashlib.sha256(text.encode()).hexdigest()


def normalised(schematic: Schematic) -> Schematic:
    """Return the schematic with extensions sorted, each once: their order changes the ID and nothing else."""
    return dataclasses.replace(schematic, extensions=tuple(sorted(set(schematic.extensions))))


def canonical(schematic: Schematic) -> str:
    """Return the document as the factory prints it; raises SchematicError for a text that it cannot predict."""
    for text in _texts(schematic):
        if reason := unpredictable(text):
            raise SchematicError(reason)
    customization = list(_customization(schematic))
    lines = [*_head(schematic), "customization:" if customization else "customization: {}", *customization]
    return "\n".join(lines) + "\n"


def _texts(schematic: Schematic) -> Iterator[str]:
    yield from (schematic.owner, schematic.overlay_image, schematic.overlay_name, schematic.enroll_keys)
    yield from (schematic.embedded_machine_configuration, *schematic.extra_kernel_args, *schematic.extensions)
    yield from (value for _, value in schematic.meta)


def _head(schematic: Schematic) -> Iterator[str]:
    if schematic.owner:
        yield f"owner: {scalar(schematic.owner, 4)}"
    if schematic.overlay_image or schematic.overlay_name:
        yield "overlay:"
        yield f"    image: {scalar(schematic.overlay_image, 8)}"
        yield f"    name: {scalar(schematic.overlay_name, 8)}"


def _customization(schematic: Schematic) -> Iterator[str]:
    if schematic.embedded_machine_configuration:
        yield f"    embeddedMachineConfiguration: {scalar(schematic.embedded_machine_configuration, 8)}"
    if schematic.extra_kernel_args:
        yield "    extraKernelArgs:"
        yield from (f"        - {scalar(argument, 10)}" for argument in schematic.extra_kernel_args)
    if schematic.meta:
        yield "    meta:"
    for key, value in schematic.meta:
        yield f"        - key: {key}"
        yield f"          value: {scalar(value, 12)}"
    if schematic.extensions:
        yield "    systemExtensions:"
        yield "        officialExtensions:"
        yield from (f"            - {scalar(name, 14)}" for name in schematic.extensions)
    yield from _boot(schematic)


def _boot(schematic: Schematic) -> Iterator[str]:
    if schematic.bootloader:
        yield f"    bootloader: {schematic.bootloader}"
    if schematic.enroll_keys or schematic.include_well_known_certificates:
        yield "    secureboot:"
    if schematic.enroll_keys:
        yield f"        enrollKeys: {scalar(schematic.enroll_keys, 12)}"
    if schematic.include_well_known_certificates:
        yield "        includeWellKnownCertificates: true"
    if schematic.sector_size:
        yield "    diskImage:"
        yield f"        sectorSize: {schematic.sector_size}"


# The factory's document: key to what stands below it. None is a text, [None] a list of texts.
_SHAPE: dict[str, Any] = {
    "owner": None,
    "overlay": {"image": None, "name": None},
    "customization": {
        "embeddedMachineConfiguration": None,
        "extraKernelArgs": [None],
        "meta": [{"key": None, "value": None}],
        "systemExtensions": {"officialExtensions": [None]},
        "bootloader": None,
        "secureboot": {"enrollKeys": None, "includeWellKnownCertificates": None},
        "diskImage": {"sectorSize": None},
    },
}
_BOOTLOADERS = ("", "none", "dual-boot", "sd-boot", "grub")


def parse(text: str) -> Schematic:
    """Return the schematic in `text`, as strictly as the factory reads it.

    Raises SchematicError: no YAML, an unknown key, a value of the wrong form, or a part that cannot be predicted.
    """
    try:
        content = load(text, as_text=True)
    except NotYaml as error:
        raise SchematicError(str(error)) from None
    if content is None or content == "":
        raise SchematicError("it is empty: write customization: {} for a plain image")
    _check(content, _SHAPE, "")
    return _schematic(content)


def _check(value: Any, shape: Any, path: str) -> None:
    where = path or "the document"
    if value in ("", "null", "~", None):
        return
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise SchematicError(f"{where} is no mapping: write key: value")
        for key, inner in value.items():
            if key not in shape:
                raise SchematicError(
                    f"{path + '.' if path else ''}{key} is no key of a schematic: write one of {', '.join(shape)}"
                )
            _check(inner, shape[key], f"{path + '.' if path else ''}{key}")
    elif isinstance(shape, list):
        if not isinstance(value, list):
            raise SchematicError(f"{where} is no list: write - value")
        for index, inner in enumerate(value):
            _check(inner, shape[0], f"{path}[{index}]")
    elif not isinstance(value, str):
        raise SchematicError(f"{where} is no text: write one value")


def _schematic(content: dict[str, Any]) -> Schematic:
    overlay, custom = _mapping(content, "overlay"), _mapping(content, "customization")
    secure, disk = _mapping(custom, "secureboot"), _mapping(custom, "diskImage")
    bootloader = str(custom.get("bootloader") or "").lower()
    if bootloader not in _BOOTLOADERS:
        raise SchematicError(f"customization.bootloader {bootloader!r} is not one of {', '.join(_BOOTLOADERS[1:])}")
    return Schematic(
        owner=content.get("owner") or "",
        overlay_image=overlay.get("image") or "",
        overlay_name=overlay.get("name") or "",
        embedded_machine_configuration=custom.get("embeddedMachineConfiguration") or "",
        extra_kernel_args=tuple(custom.get("extraKernelArgs") or ()),
        meta=tuple(
            (_number(one.get("key"), 255, "meta key"), one.get("value") or "") for one in custom.get("meta") or ()
        ),
        extensions=tuple(_mapping(custom, "systemExtensions").get("officialExtensions") or ()),
        bootloader="" if bootloader == "none" else bootloader,
        enroll_keys=secure.get("enrollKeys") or "",
        include_well_known_certificates=str(secure.get("includeWellKnownCertificates")).lower() == "true",
        sector_size=_number(disk.get("sectorSize"), 2**32 - 1, "diskImage.sectorSize"),
    )


def _mapping(content: dict[str, Any], key: str) -> dict[str, Any]:
    value = content.get(key)
    return value if isinstance(value, dict) else {}


def _number(value: Any, most: int, what: str) -> int:
    text = str(value or "0")
    try:
        number = int(text, 0)
    except ValueError:
        raise SchematicError(f"{what} {text!r} is no whole number") from None
    if not 0 <= number <= most:
        raise SchematicError(f"{what} {number} is not between 0 and {most}")
    return number
