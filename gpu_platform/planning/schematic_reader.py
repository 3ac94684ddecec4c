"""Read a schematic document as strictly as the Image Factory does."""

from __future__ import annotations

import re
from typing import Any

from gpu_platform.planning.go_yaml import reads_as_something_else
from gpu_platform.planning.schematic import OPTION_KEY, Schematic, SchematicError
from gpu_platform.strict_yaml import NotYaml, Quoted, load

# Stands for any key.
_ANY = "*"

# The factory's document: key to what stands below it. None is a text, [None] a list of texts.
_SHAPE: dict[str, Any] = {
    "owner": None,
    "overlay": {"image": None, "name": None, "options": {_ANY: None}},
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
    if content is None:
        raise SchematicError("it is empty: write customization: {} for a plain image")
    _check(content, _SHAPE, "")
    return _schematic(content)


def _check(value: Any, shape: Any, path: str) -> None:
    where = path or "the document"
    if value is None:
        return
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            raise SchematicError(f"{where} is no mapping: write key: value")
        for key, inner in value.items():
            if key not in shape and _ANY not in shape:
                raise SchematicError(
                    f"{path + '.' if path else ''}{key} is no key of a schematic: write one of {', '.join(shape)}"
                )
            _check(inner, shape.get(key), f"{path + '.' if path else ''}{key}")
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
        overlay_options=_options(_mapping(overlay, "options")),
        embedded_machine_configuration=custom.get("embeddedMachineConfiguration") or "",
        extra_kernel_args=_list(custom, "extraKernelArgs"),
        meta=tuple((_number(one.get("key"), 255, "meta key"), one.get("value") or "") for one in _list(custom, "meta")),
        extensions=_list(_mapping(custom, "systemExtensions"), "officialExtensions"),
        bootloader="" if bootloader == "none" else bootloader,
        enroll_keys=secure.get("enrollKeys") or "",
        include_well_known_certificates=_truth(secure.get("includeWellKnownCertificates")),
        sector_size=_number(disk.get("sectorSize"), 2**32 - 1, "diskImage.sectorSize"),
    )


def _options(options: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Return the options in the factory's order, as far as it and the types of their values can be told."""
    for key, value in options.items():
        if not re.fullmatch(OPTION_KEY, key):
            raise SchematicError(f"overlay.options.{key}: only keys of letters have a place that can be predicted")
        if not isinstance(value, Quoted) and reads_as_something_else(str(value or "")):
            raise SchematicError(f"overlay.options.{key} is no plain text: its bytes cannot be predicted")
    return tuple(sorted(options.items()))


def _mapping(content: dict[str, Any], key: str) -> dict[str, Any]:
    value = content.get(key)
    return value if isinstance(value, dict) else {}


def _list(content: dict[str, Any], key: str) -> tuple[Any, ...]:
    """Return the entries of a list; the factory drops those that are nothing."""
    return tuple(one for one in content.get(key) or () if one is not None)


def _truth(value: Any) -> bool:
    if value is None or (value in {"false", "False", "FALSE"} and not isinstance(value, Quoted)):
        return False
    if value in {"true", "True", "TRUE"} and not isinstance(value, Quoted):
        return True
    raise SchematicError(f"secureboot.includeWellKnownCertificates {str(value)!r} is not true or false")


def _number(value: Any, most: int, what: str) -> int:
    text = str(value or "0")
    try:
        number = int("in quotes" if isinstance(value, Quoted) else text, 0)
    except ValueError:
        raise SchematicError(f"{what} {text!r} is no whole number") from None
    if not 0 <= number <= most:
        raise SchematicError(f"{what} {number} is not between 0 and {most}")
    return number
