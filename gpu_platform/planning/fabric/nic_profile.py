"""Rails of a machine from what `talosctl` tells of its links: which ports are on the fabric, and which are not."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_platform import facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class NicProfileError(ValueError):
    """One sentence: why no rails can be told from a dump."""


@dataclass(frozen=True)
class Seen:
    """One port, whether it is a rail, and why."""

    pci: str
    interface: str
    hca: str
    rail: bool
    reason: str


@dataclass(frozen=True)
class NicProfile:
    """What a pool of such machines writes under `nics`, and how each port was judged."""

    nics: dict[str, Any]
    ports: tuple[Seen, ...]


def derive(links: Iterable[Mapping[str, Any]], addresses: Iterable[Mapping[str, Any]]) -> NicProfile:
    """Return the rails that follow from LinkStatus and AddressStatus resources, as `talosctl get -o yaml` prints them.

    InfiniBand ports are rails where there are any; else Ethernet ports that are up, in no bond and without an address.
    Raises NicProfileError where there are none, or of several models.
    """
    known = facts.table("nics_seen")
    ports = sorted(_ports(links, known), key=lambda one: one["busPath"])
    if not ports:
        raise NicProfileError(f"no link is a port of driver {known['driver']}: dump `talosctl get links -o yaml`")
    taken = {str(_spec(one).get("linkName")) for one in addresses}
    infiniband = any(one["type"] == "infiniband" for one in ports)
    judged = [_judge(one, index, taken, infiniband=infiniband) for index, one in enumerate(ports)]
    rails = [(port, seen) for port, seen in zip(ports, judged, strict=True) if seen.rail]
    if not rails:
        reasons = "; ".join(f"{one.interface} {one.reason}" for one in judged)
        raise NicProfileError(f"no port is on a fabric: {reasons}")
    devices = Counter(_device(port) for port, _ in rails)
    if len(devices) > 1:
        found = ", ".join(f"{count} of {name}" for name, count in sorted(devices.items()))
        raise NicProfileError(f"the ports are of several models ({found}): write rails by hand")
    nics = {
        "fabric": "infiniband" if infiniband else "ethernet",
        "device": next(iter(devices)),
        "rails": [{"pci": one.pci, "hca": one.hca, "interface": one.interface} for _, one in rails],
        "northSouth": [one.pci for one in judged if not one.rail],
    }
    return NicProfile(nics, tuple(judged))


def _spec(resource: Mapping[str, Any]) -> Mapping[str, Any]:
    found = resource.get("spec")
    return found if isinstance(found, dict) else {}


def _ports(links: Iterable[Mapping[str, Any]], known: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield the physical functions of the driver: virtual ones and what is built on ports are left out."""
    for link in links:
        spec, name = _spec(link), str((link.get("metadata") or {}).get("id", ""))
        if spec.get("driver") == known["driver"] and spec.get("busPath") and not spec.get("kind"):
            port = {**spec, "name": name}
            if _device(port) not in known["virtual"]:
                yield port


def _device(port: Mapping[str, Any]) -> str:
    """Return the PCI device ID of a port, such as 1021, from an ID such as 15B3:1021."""
    return str(port.get("pciID", "")).rpartition(":")[2].lower()


def _judge(port: Mapping[str, Any], index: int, taken: set[str], *, infiniband: bool) -> Seen:
    name = str(port["name"])
    if infiniband:
        rail = port["type"] == "infiniband"
        reason = "speaks InfiniBand" if rail else "speaks Ethernet, where others speak InfiniBand"
    elif port.get("masterIndex") or port.get("slaveKind"):
        rail, reason = False, "is part of a bond or bridge"
    elif name in taken:
        rail, reason = False, "has an address of the node"
    elif not port.get("linkState"):
        rail, reason = False, "is down"
    else:
        rail, reason = True, "is up, and nobody uses it"
    return Seen(str(port["busPath"]), name, f"mlx5_{index}", rail, reason)
