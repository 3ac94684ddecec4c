"""SriovNetworkNodePolicies: what the operator refuses in one, and what several make of one port together."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.devices.device_plugins import FabricError
from sandbox.devices.ports import CEILING, VENDOR

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.hardware import Object
    from sandbox.devices.ports import Port

_NAME = re.compile(r"[a-zA-Z0-9]([a-zA-Z0-9_-]{0,61}[a-zA-Z0-9])?")
_RANGED = re.compile(r"[^#]+#(\d+)-(\d+)")
_NIC = {"vendor", "deviceID", "rootDevices", "pfNames", "netFilter"}
_LINKS = {"ib": "infiniband", "eth": "ether"}


@dataclass(frozen=True)
class Group:
    """Some VFs of one port under one resource."""

    resource: str
    numbers: range
    rdma: bool


@dataclass
class Wanted:
    """What all policies together want of one port."""

    count: int
    groups: list[Group] = field(default_factory=list)
    # The operator leaves VFs alone that somebody else makes.
    external: bool = False


def checked(policy: Object) -> Object:
    """Return the policy, after the checks of the operator's webhook: where that is off, the daemon fails."""
    name, spec = policy["metadata"]["name"], policy.get("spec") or {}
    nic, count = spec.get("nicSelector") or {}, spec.get("numVfs")
    if not _NAME.fullmatch(spec.get("resourceName") or ""):
        raise FabricError(f"policy {name}: {spec.get('resourceName')!r} is no resourceName")
    if not spec.get("nodeSelector"):
        raise FabricError(f"policy {name}: nodeSelector is required")
    if not isinstance(count, int) or count < 1:
        raise FabricError(f"policy {name}: numVfs is required, and at least 1")
    if not any(nic.get(key) for key in _NIC):
        raise FabricError(f"policy {name}: nicSelector selects nothing")
    if not 0 <= spec.get("priority", 0) <= 99:
        raise FabricError(f"policy {name}: priority is not within 0 and 99")
    if spec.get("deviceType", "netdevice") != "netdevice" and spec.get("isRdma"):
        raise FabricError(f"policy {name}: deviceType {spec['deviceType']} has no verbs, and isRdma asks for them")
    for one in nic.get("pfNames") or ():
        if "#" in one:
            _numbers(name, one, count)
    return policy


def groups(policies: Iterable[Object], ports: tuple[Port, ...]) -> dict[str, Wanted]:
    """Return what policies want of each port they select; the later of two that overlap wins, and 0 comes last."""
    found: dict[str, Wanted] = {}
    for policy in sorted(policies, key=lambda one: (-one["spec"].get("priority", 0), one["metadata"]["name"])):
        name, spec = policy["metadata"]["name"], policy["spec"]
        for port in ports:
            ranged = _selecting(spec["nicSelector"], port)
            if ranged is None:
                continue
            _fitting(name, spec, port)
            numbers = _numbers(name, ranged, spec["numVfs"]) if "#" in ranged else range(spec["numVfs"])
            own = Group(spec["resourceName"], numbers, bool(spec.get("isRdma")))
            before = found.get(port.pci, Wanted(0))
            kept = [one for one in before.groups if one.resource != own.resource and not _overlap(one, own)]
            count = max(spec["numVfs"], before.count) if kept else spec["numVfs"]
            found[port.pci] = Wanted(count, [*kept, own], bool(spec.get("externallyManaged")))
    return found


def _fitting(name: str, spec: Object, port: Port) -> None:
    link = str(spec.get("linkType") or "").lower()
    if link and _LINKS.get(link) != port.link:
        raise FabricError(f"policy {name}: linkType {spec['linkType']} is not what {port.pci} speaks, {port.link}")
    if spec.get("eSwitchMode", "legacy") != "legacy" and port.link == "infiniband":
        raise FabricError(f"policy {name}: eSwitchMode {spec['eSwitchMode']} is for Ethernet")
    if spec["numVfs"] > CEILING[port.link]:
        raise FabricError(f"policy {name}: the firmware of {port.pci} holds {CEILING[port.link]} VFs")
    if spec.get("externallyManaged") and port.vfs < spec["numVfs"]:
        raise FabricError(f"policy {name}: {port.pci} has {port.vfs} VFs, and externallyManaged makes no more")


def _selecting(nic: Object, port: Port) -> str | None:
    """Return the name by which a selector chooses a port, or the empty one; None where it does not."""
    if nic.get("vendor") not in {None, "", VENDOR} or nic.get("deviceID") not in {None, "", port.device}:
        return None
    if nic.get("rootDevices") and port.pci not in nic["rootDevices"]:
        return None
    names = nic.get("pfNames") or ()
    if not names:
        return None if nic.get("netFilter") else ""
    return next((one for one in names if one.partition("#")[0] == port.interface), None)


def _numbers(name: str, ranged: str, count: int) -> range:
    found = _RANGED.fullmatch(ranged)
    if found is None or not int(found[1]) <= int(found[2]) < count:
        raise FabricError(f"policy {name}: {ranged} is no range within {count} VFs")
    return range(int(found[1]), int(found[2]) + 1)


def _overlap(one: Group, other: Group) -> bool:
    return one.numbers.start < other.numbers.stop and other.numbers.start < one.numbers.stop
