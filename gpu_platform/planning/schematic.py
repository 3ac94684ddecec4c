"""The Image Factory's schematic: its document, the canonical bytes, and the ID that follows from them."""

from __future__ import annotations

import dataclasses
import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_platform.planning.go_yaml import scalar, unpredictable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["OPTION_KEY", "Schematic", "SchematicError", "canonical", "normalised", "schematic_id", "unpredictable"]


# Keys of overlay options whose order is the same for the factory's library and for us.
OPTION_KEY = "[A-Za-z]+"


class SchematicError(Exception):
    """One sentence: why this is no schematic that we can work with."""


@dataclass(frozen=True)
class Schematic:
    """Everything that an image is made of; fields in the order of the factory's own document."""

    owner: str = ""
    overlay_image: str = ""
    overlay_name: str = ""
    overlay_options: tuple[tuple[str, str], ...] = ()
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
    yield from (text for option in schematic.overlay_options for text in option)
    yield from (schematic.embedded_machine_configuration, *schematic.extra_kernel_args, *schematic.extensions)
    yield from (value for _, value in schematic.meta)


def _head(schematic: Schematic) -> Iterator[str]:
    if schematic.owner:
        yield f"owner: {scalar(schematic.owner, 4)}"
    if schematic.overlay_image or schematic.overlay_name or schematic.overlay_options:
        yield "overlay:"
        yield f"    image: {scalar(schematic.overlay_image, 8)}"
        yield f"    name: {scalar(schematic.overlay_name, 8)}"
    if schematic.overlay_options:
        yield "    options:"
        yield from (f"        {scalar(key, 8)}: {scalar(value, 12)}" for key, value in schematic.overlay_options)


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
