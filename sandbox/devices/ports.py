"""Network ports of a machine: where they are on the bus, what they are called, and what they speak."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.devices.hardware import PREFIX

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sandbox.devices.hardware import Object

# Set by whoever creates the node.
NICS, FABRIC = PREFIX + "nics", PREFIX + "nic-fabric"
# Set by the boot of a machine: how many VFs its configuration asks of each address.
VFS = PREFIX + "vfs"
# A machine without these has no character devices for verbs (k8s-rdma-shared-dev-plugin#44).
MODULES = ("ib_uverbs", "ib_umad", "rdma_ucm")
VENDOR = "15b3"
VF_DEVICE = "101e"
# What the firmware of a port holds: above it the write to sriov_numvfs fails.
CEILING = {"infiniband": 16, "ether": 128}


@dataclass(frozen=True)
class Port:
    """One function of a network card; a virtual one knows its physical function and its number there."""

    pci: str
    device: str
    interface: str
    link: str
    on_fabric: bool
    vfs: int = 0
    parent: Port | None = None
    number: int = -1
    # Whether somebody gives its VFs a GUID each.
    guids: bool = False


@cache
def servers() -> dict[str, Object]:
    """Return every server model of servers.toml by name."""
    return tomllib.loads(Path(__file__).with_name("servers.toml").read_text(encoding="utf-8"))


def ports(notes: dict[str, str]) -> tuple[Port, ...]:
    """Return the ports of a machine by its node's annotations; none where its model is unknown."""
    asked = json.loads(notes.get(VFS) or "{}")
    found = _bare(notes)
    return tuple(replace(one, vfs=count) if (count := _made(one, asked)) else one for one in found)


def unmade(notes: dict[str, str]) -> Iterator[str]:
    """Yield why VFs that the machine configuration asks for are not there."""
    asked = json.loads(notes.get(VFS) or "{}")
    there = {one.pci: one for one in _bare(notes)}
    for pci, count in asked.items():
        if pci not in there:
            yield f"sriov_numvfs of {pci} is written in vain: the machine has no such port"
        elif count > CEILING[there[pci].link]:
            yield f"{pci} makes no {count} VFs: its firmware holds {CEILING[there[pci].link]}"


def functions(found: Iterable[Port]) -> tuple[Port, ...]:
    """Return ports with their VFs after them, as the bus counts them."""
    every = tuple(found)
    return tuple(one for port in every for one in (port, *_virtual(port, every)))


def _bare(notes: dict[str, str]) -> list[Port]:
    row = servers().get(notes.get(NICS, ""), {"ports": ()})
    return [_port(one, notes.get(FABRIC, "infiniband")) for one in row["ports"]]


def _made(port: Port, asked: dict[str, int]) -> int:
    count = asked.get(port.pci, 0)
    return count if count <= CEILING[port.link] else 0


def _virtual(port: Port, every: tuple[Port, ...]) -> Iterator[Port]:
    """Yield the VFs of a port, at the function numbers after all ports of its slot; past 255 the next bus begins."""
    domain, bus, rest = port.pci.split(":")
    slot, function = (int(part, 16) for part in rest.split("."))
    beside = sum(one.pci.rpartition(".")[0] == port.pci.rpartition(".")[0] for one in every)
    first = (int(bus, 16) << 8) + (slot << 3) + beside + function * CEILING[port.link]
    stem = port.interface.rpartition("np")[0] or port.interface
    for number in range(port.vfs):
        at = first + number
        pci = f"{domain}:{at >> 8:02x}:{(at >> 3) & 31:02x}.{at & 7}"
        yield Port(pci, VF_DEVICE, f"{stem}v{number}", port.link, port.on_fabric, parent=port, number=number)


def _port(one: Object, fabric: str) -> Port:
    infiniband = one["fabric"] and fabric == "infiniband"
    domain, bus, rest = one["pci"].split(":")
    slot, function = rest.split(".")
    far = f"P{int(domain, 16)}" if int(domain, 16) else ""
    place = f"{far}p{int(bus, 16)}s{int(slot, 16)}"
    name = (
        f"ib{place}{f'f{function}' if function != '0' else ''}" if infiniband else f"en{place}f{function}np{function}"
    )
    return Port(one["pci"], one["device"], name, "infiniband" if infiniband else "ether", one["fabric"])
