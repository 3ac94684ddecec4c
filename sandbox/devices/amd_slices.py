"""What AMD's DRA driver tells of the cards (ROCm/k8s-gpu-dra-driver, docs/driver-attributes.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.amd_partition import Mode
    from sandbox.devices.hardware import Card, Object

DRIVER = "gpu.amd.com"


def devices(card: Card, modes: Iterable[Mode]) -> list[Object]:
    """Return a device for every card, or for every partition of one."""
    found: list[Object] = []
    for slot, mode in enumerate(modes):
        for _ in range(mode.parts):
            found.append(_device(card, mode, slot, len(found)))
    return found


def _device(card: Card, mode: Mode, slot: int, index: int) -> Object:
    # A partition names its parent under other keys than a card names itself.
    whole = mode.parts == 1
    texts = {
        "type": "amdgpu" if whole else "amdgpu-partition",
        "pciAddr" if whole else "parentPciAddr": f"0000:{slot * 16 + 5:02x}:00.0",
        "deviceID" if whole else "parentDeviceID": card.pci.get("device", ""),
        "family": "AI",
        "productName": card.product,
        "partitionProfile": mode.name,
        "resource.kubernetes.io/pcieRoot": f"pci0000:{slot * 16:02x}",
    }
    attributes: Object = {key: {"string": value} for key, value in texts.items()}
    attributes |= {"cardIndex": {"int": index}, "renderIndex": {"int": 128 + index}}
    units = card.units // mode.parts
    capacity = {"memory": f"{card.memory // mode.parts}Mi", "computeUnits": str(units), "simdUnits": str(units * 4)}
    return {
        "name": f"gpu-{index}-{128 + index}",
        "attributes": attributes,
        "capacity": {key: {"value": value} for key, value in capacity.items()},
    }
