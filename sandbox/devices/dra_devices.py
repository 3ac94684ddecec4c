"""The devices that NVIDIA's DRA driver tells of: whole cards, and the slices that it finds."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from sandbox.devices.image import drivers
from sandbox.devices.partition import memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.partition import Gpus

# Driver and CUDA of each flavour of the extensions from Talos 1.13 on, written as the driver writes them: 595.91.07 is
# no semantic version. CUDA's are nominal. Elsewhere the operator brings the production branch.
_VERSIONS = {"lts": ("580.178.4", "13.0.0"), "production": ("595.91.7", "13.2.0")}


def devices(machine: Machine, card: Card, gpus: Gpus) -> Iterator[Object]:
    """Yield a device for each whole card and for each slice; a card that is cut into nothing yields none."""
    for index in range(machine.count):
        profiles = gpus[index] if index < len(gpus) else None
        name = f"gpu-{index}"
        identity = _uuid("GPU", machine.name, name)
        if profiles is None:
            yield _device(machine, card, name, index, {"type": "gpu", "uuid": identity}, card.memory)
        for number, profile in enumerate(profiles or ()):
            part = f"{name}-mig-{number}"
            own = {"type": "mig", "uuid": _uuid("MIG", machine.name, part), "profile": profile, "parentUUID": identity}
            yield _device(machine, card, part, index, own, memory(card, profile))


def _device(machine: Machine, card: Card, name: str, index: int, own: dict[str, str], mebibytes: int) -> Object:
    driver, cuda = _VERSIONS.get(next(iter(drivers(machine).values()), ""), _VERSIONS["production"])
    texts = {
        **own,
        "productName": card.product.replace("-", " "),
        "brand": "Tesla" if card.product.startswith("Tesla") else "Nvidia",
        "architecture": card.family.replace("-", " ").title(),
        "resource.kubernetes.io/pcieRoot": f"pci0000:{index * 16:02x}",
    }
    versions = {"cudaComputeCapability": card.compute, "driverVersion": driver, "cudaDriverVersion": cuda}
    attributes = {key: {"string": value} for key, value in texts.items()}
    return {
        "name": name,
        "attributes": attributes | {key: {"version": value} for key, value in versions.items()},
        "capacity": {"memory": {"value": f"{mebibytes}Mi"}},
    }


def _uuid(kind: str, *parts: object) -> str:
    digest = hashlib.sha256("/".join(map(str, parts)).encode()).hexdigest()
    return f"{kind}-{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
