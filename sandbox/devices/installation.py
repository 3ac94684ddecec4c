"""What a machine looks like after it has installed an image: labels, annotations, taints, or why it does not boot."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.devices import image
from sandbox.devices.hardware import EXTENSIONS, FAILURE, MODULES, NVIDIA, RELEASE, Machine, cards, machine
from sandbox.devices.machine_config import MachineConfig, read
from sandbox.devices.ports import VFS

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object

TALOS = "extensions.talos.dev/"
_VFS = re.compile(r"bus/pci/devices/([0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])/sriov_numvfs")
_INSTALLER = re.compile(r"[^/]+/metal-installer(?:-secureboot)?/([0-9a-f]{64}):(v\d+\.\d+\.\d+\S*)")


@dataclass(frozen=True)
class Image:
    """What the factory knows under an installer reference; failure is why no machine boots from it."""

    schematic: str = ""
    release: str = ""
    extensions: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    failure: str = ""


@dataclass(frozen=True)
class Installed:
    """What the boot sets on the node."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    taints: tuple[Object, ...] = ()


def parse(installer: str) -> tuple[str, str] | None:
    """Return schematic and release of a reference HOST/metal-installer/SCHEMATIC:vX.Y.Z."""
    found = _INSTALLER.fullmatch(installer)
    return (found[1], found[2]) if found else None


def install(node: Object, booted: Image, installer: str, patch: str, labels: dict[str, str]) -> Installed:
    """Return the node after the boot; labels are those that the outputs give this one node."""
    config = read(patch, booted.release)
    failure = booted.failure or config.refused or _stuck(machine(node), booted, config, installer)
    if failure:
        return Installed(annotations={FAILURE: f"the machine does not boot: {failure}"})
    loaded = [one for one in config.modules if not one.startswith("nvidia") or _has_driver(booted)]
    notes = {
        f"{TALOS}schematic": booted.schematic,
        RELEASE: booted.release,
        EXTENSIONS: json.dumps(booted.extensions),
        MODULES: json.dumps(loaded),
    }
    if asked := _vfs(config):
        notes[VFS] = json.dumps(asked, sort_keys=True)
    notes |= {TALOS + name.rpartition("/")[2]: version for name, version in booted.versions.items()}
    return Installed({**labels, **config.labels}, notes, config.taints)


def _vfs(config: MachineConfig) -> dict[str, int]:
    """Return how many VFs the configuration asks of each PCI address."""
    asked = ((_VFS.fullmatch(path), value) for path, value in config.sysfs.items())
    return {found[1]: int(value) for found, value in asked if found and value.isdecimal()}


def _stuck(here: Machine, booted: Image, config: MachineConfig, installer: str) -> str:
    """Return why the boot does not come to its end, if it does not."""
    if config.installer and config.installer != installer:
        return f"its configuration installs {config.installer}, its outputs say {installer}"
    if not _has_driver(booted):
        return ""
    waits = "its NVIDIA services wait for /sys/bus/pci/drivers/nvidia until the boot times out after 70 minutes"
    card = cards().get(here.model)
    if card is None or card.pci["vendor"] != NVIDIA:
        return f"{waits}: it has no NVIDIA card"
    return "" if "nvidia" in config.modules else f"{waits}: its configuration loads no module nvidia"


def _has_driver(booted: Image) -> bool:
    blank = Machine("", {}, (), "talos", booted.release, "", "", 0, booted.extensions, (), "")
    return bool(image.drivers(blank))
