"""NVIDIA's DRA driver: where its plugin runs, and why it tells of nothing there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sandbox.devices.dra_devices import devices
from sandbox.devices.image import obstacles as image_obstacles
from sandbox.devices.nvidia import DRIVER_ROOT
from sandbox.devices.placement import ENFORCE, admits_privileged, selected, spelled, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.partition import Gpus
    from sandbox.devices.view import View

DRIVER = "gpu.nvidia.com"
# The plugin of cards beside the one of compute domains in one pod: resources.gpus.enabled=false leaves it out.
_CONTAINER = "gpus"


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
    tells = any(one["name"] == _CONTAINER for one in pod.get("containers") or ())
    if not tells or not selected(pod, {**labels, **machine.labels}):
        return None
    trouble = next(_obstacles(view, view.dra_plugin, machine, card), None)
    if trouble:
        return Claims(trouble=trouble)
    found = tuple(devices(machine, card, gpus))
    return Claims(found, "" if found else "the DRA driver has no device to tell of: every card is cut into nothing")


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
