"""NVIDIA's DRA driver: where its plugin runs, and the devices that it tells of."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.devices.image import obstacles as image_obstacles
from sandbox.devices.nvidia import DRIVER_ROOT
from sandbox.devices.partition import memory
from sandbox.devices.placement import ENFORCE, admits_privileged, selected, spelled, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.partition import Gpus
    from sandbox.devices.view import View

DRIVER = "gpu.nvidia.com"


@dataclass(frozen=True)
class Claims:
    """What the plugin does on one machine: the devices of its slice, and a sentence when it tells of none."""

    devices: tuple[Object, ...] = ()
    trouble: str = ""


def claims(view: View, machine: Machine, card: Card, labels: dict[str, str], gpus: Gpus) -> Claims | None:
    """Return what the plugin tells of the machine's cards, `gpus` their profiles; None where it does not run."""
    if view.dra_plugin is None:
        return None
    pod = view.dra_plugin["spec"]["template"]["spec"]
    if not selected(pod, {**labels, **machine.labels}):
        return None
    trouble = next(_obstacles(view, view.dra_plugin, machine, card), None)
    if trouble:
        return Claims(trouble=trouble)
    return Claims(tuple(_devices(machine, card, gpus)))


def _obstacles(view: View, plugin: Object, machine: Machine, card: Card) -> Iterator[str]:
    space, pod = plugin["metadata"]["namespace"], plugin["spec"]["template"]["spec"]
    if machine.system == "talos" and not admits_privileged(view.namespaces.get(space)):
        yield f"namespace {space} of the DRA driver lacks {ENFORCE}=privileged, and Talos refuses its pods"
    if taint := untolerated(machine, pod.get("tolerations") or ()):
        yield f"the DRA driver does not tolerate taint {spelled(taint)}"
    if machine.system == "talos":
        yield from image_obstacles(machine, card)
        root = next((one["hostPath"]["path"] for one in pod["volumes"] if one["name"] == "driver-root"), "/")
        if root != DRIVER_ROOT:
            yield f"nvidiaDriverRoot of the DRA driver is {root}: on Talos the driver lies in {DRIVER_ROOT}"


def _devices(machine: Machine, card: Card, gpus: Gpus) -> Iterator[Object]:
    """Yield a device for each whole card and for each slice; one that is cut into nothing yields none."""
    for index in range(machine.count):
        profiles = gpus[index] if index < len(gpus) else None
        if profiles is None:
            yield _device(machine, card, f"gpu-{index}", index, {"type": "gpu"}, card.memory)
        for number, profile in enumerate(profiles or ()):
            parent = {"type": "mig", "profile": profile, "parentUUID": _uuid("GPU", machine.name, index)}
            size = memory(card, profile)
            yield _device(machine, card, f"gpu-{index}-mig-{number}", index, parent, size)


def _device(machine: Machine, card: Card, name: str, index: int, special: dict[str, str], mebibytes: int) -> Object:
    kind = "GPU" if special["type"] == "gpu" else "MIG"
    texts = {
        **special,
        "uuid": _uuid(kind, machine.name, name),
        "productName": card.product.replace("-", " "),
        "brand": "Nvidia",
        "architecture": card.family.capitalize(),
        "resource.kubernetes.io/pcieRoot": f"pci0000:{index * 16:02x}",
    }
    return {
        "name": name,
        "attributes": {key: {"string": value} for key, value in texts.items()},
        "capacity": {"memory": {"value": f"{mebibytes}Mi"}},
    }


def _uuid(kind: str, *parts: object) -> str:
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()
    return f"{kind}-{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
