"""What a booted Talos image must hold before NVIDIA's operands find a working driver."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Card, Machine

_OPEN, _PROPRIETARY = "nvidia-open-gpu-kernel-modules", "nonfree-kmod-nvidia"
_TOOLKIT, _FABRIC = "nvidia-container-toolkit", "nvidia-fabricmanager"
# Modules without which the driver answers nothing; nvidia_drm and nvidia_modeset do no computing.
_MODULES = ("nvidia", "nvidia_uvm")
# The first release whose toolkit extension writes the CDI specifications that operands use (siderolabs/talos#9014).
_FLOOR = (1, 13)
# NVSwitch boards of this family reach their switches through this module (siderolabs/extensions#893).
_SWITCH_MODULE = {"blackwell": "ib_umad"}


def flavours(machine: Machine, stem: str) -> tuple[str, ...]:
    """Return the flavours (lts, production) in which the image holds an extension."""
    prefix = f"siderolabs/{stem}-"
    return tuple(one.removeprefix(prefix) for one in machine.extensions if one.startswith(prefix))


def drivers(machine: Machine) -> dict[str, str]:
    """Return the flavours of the kernel module extensions by kind: open or proprietary."""
    kinds = {"open": flavours(machine, _OPEN), "proprietary": flavours(machine, _PROPRIETARY)}
    return {kind: found[0] for kind, found in kinds.items() if found}


def obstacles(machine: Machine, card: Card) -> Iterator[str]:
    """Yield what the image of a GPU machine lacks."""
    if minor(machine.release) < _FLOOR:
        yield f"the GPU operator finds no driver on Talos {machine.release}: it needs v1.13"
    kinds = drivers(machine)
    if not kinds:
        yield "the image has no NVIDIA kernel modules extension"
        return
    if len(kinds) > 1:
        yield "the image has open and proprietary NVIDIA kernel modules"
    flavour = next(iter(kinds.values()))
    yield from _same_flavour(machine, _TOOLKIT, flavour)
    for module in _MODULES:
        if module not in machine.modules:
            yield f"kernel module {module} is not loaded: the machine configuration does not name it"
    if card.open and "open" not in kinds:
        yield f"{card.product} needs open kernel modules; with proprietary ones nvidia-smi says No devices found"
    if card.nvswitch and machine.count >= card.nvswitch:
        yield from _same_flavour(machine, _FABRIC, flavour)
        module = _SWITCH_MODULE.get(card.family, "")
        if module and module not in machine.modules:
            yield f"kernel module {module} is not loaded: the fabric manager of {card.product} needs it"


def _same_flavour(machine: Machine, stem: str, flavour: str) -> Iterator[str]:
    found = flavours(machine, stem)
    if not found:
        yield f"the image has no {stem} extension"
    elif found != (flavour,):
        yield f"the image mixes {stem}-{found[0]} with {flavour} kernel modules"


def minor(release: str) -> tuple[int, int]:
    """Return major and minor number of a Talos release."""
    found = re.match(r"v?(\d+)\.(\d+)", release)
    return (int(found[1]), int(found[2])) if found else (0, 0)
