"""Network ports of a machine: where they are on the bus, what they are called, and what they speak."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.devices.hardware import PREFIX

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object

# Set by whoever creates the node.
NICS, FABRIC = PREFIX + "nics", PREFIX + "nic-fabric"
VENDOR = "15b3"


@dataclass(frozen=True)
class Port:
    """One physical function of a network card."""

    pci: str
    device: str
    interface: str
    link: str
    on_fabric: bool


@cache
def servers() -> dict[str, Object]:
    """Return every server model of servers.toml by name."""
    return tomllib.loads(Path(__file__).with_name("servers.toml").read_text(encoding="utf-8"))


def ports(notes: dict[str, str]) -> tuple[Port, ...]:
    """Return the ports of a machine by its node's annotations; none where its model is unknown."""
    row = servers().get(notes.get(NICS, ""), {"ports": ()})
    return tuple(_port(one, notes.get(FABRIC, "infiniband")) for one in row["ports"])


def _port(one: Object, fabric: str) -> Port:
    infiniband = one["fabric"] and fabric == "infiniband"
    _, bus, rest = one["pci"].split(":")
    slot, function = rest.split(".")
    place = f"p{int(bus, 16)}s{int(slot, 16)}"
    name = f"ib{place}" if infiniband else f"en{place}f{function}np{function}"
    return Port(one["pci"], one["device"], name, "infiniband" if infiniband else "ether", one["fabric"])
