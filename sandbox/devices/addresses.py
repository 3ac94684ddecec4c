"""Addresses of attachments, as nv-ipam and whereabouts give them: by a node's block, or by one range for all."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_interface, ip_network
from typing import TYPE_CHECKING

from sandbox.devices.networks import AttachmentError
from sandbox.devices.placement import selected
from sandbox.devices.pools import CIDR_POOLS, IP_POOLS, Block, address, cidr_block, ip_block

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sandbox.devices.cni import Here, Scene
    from sandbox.devices.hardware import Object
    from sandbox.devices.pools import Address

_WHEREABOUTS = "whereabouts"


@dataclass
class Ledger:
    """Addresses that pods hold by pool, and pools that got a block for another node."""

    held: dict[str, set[Address]] = field(default_factory=lambda: defaultdict(set))
    # By plural and key of a pool: its allocations.
    allocations: dict[tuple[str, str], list[Object]] = field(default_factory=dict)
    changed: set[tuple[str, str]] = field(default_factory=set)

    def hold(self, pool: str, texts: Iterable[str]) -> None:
        """Note that somebody holds addresses of a pool."""
        self.held[pool] |= {ip_address(one) for one in texts}


def pool_of(ipam: Object) -> str:
    """Return the name under which addresses of a configuration are counted."""
    kind = str(ipam.get("type") or "")
    return f"{kind} {ipam.get('poolType') or 'ippool'} {ipam.get('poolName')}" if kind == "nv-ipam" else kind


def assign(scene: Scene, here: Here, key: str, ipam: Object, ledger: Ledger) -> list[str]:
    """Return the addresses of one attachment; a definition without ipam gives none."""
    kind = str(ipam.get("type") or "")
    if not kind:
        return []
    if kind == "static":
        return [str(ip_interface(one["address"]).ip) for one in ipam.get("addresses") or ()]
    found = {"nv-ipam": _nv_ipam, _WHEREABOUTS: _whereabouts}.get(kind)
    if found is None:
        raise AttachmentError(f"definition {key}: ipam {kind} gives the same addresses on every node")
    chosen = found(scene, here, key, ipam, ledger)
    pool = pool_of(ipam)
    for other, held in ledger.held.items():
        if other != pool and (twice := held & set(chosen)):
            raise AttachmentError(f"{min(map(str, twice))} of {pool} is held by a pod under {other}: the two overlap")
    return [str(one) for one in chosen]


def _nv_ipam(scene: Scene, here: Here, key: str, ipam: Object, ledger: Ledger) -> list[Address]:
    name, kind = str(ipam.get("poolName") or ""), str(ipam.get("poolType") or "ippool").lower()
    if kind not in {"ippool", "cidrpool"}:
        raise AttachmentError(f"definition {key}: nv-ipam knows no poolType {kind}")
    operator = scene.fabric.operator or {"metadata": {"namespace": ""}}
    place = f"{operator['metadata']['namespace']}/{name}"
    plural, pools = (IP_POOLS, scene.ip_pools) if kind == "ippool" else (CIDR_POOLS, scene.cidr_pools)
    pool = pools.get(place)
    if pool is None:
        raise AttachmentError(f"definition {key}: there is no {kind} {place}")
    chosen = {"requiredDuringSchedulingIgnoredDuringExecution": pool["spec"].get("nodeSelector")}
    if pool["spec"].get("nodeSelector") and not selected({"affinity": {"nodeAffinity": chosen}}, here.labels):
        raise AttachmentError(f"nodeSelector of {kind} {place} does not choose node {here.machine.name}")
    block = _block(scene, here, plural, place, pool, ledger)
    taken = ledger.held[pool_of(ipam)]
    found = next((one for one in block.addresses if one not in taken), None)
    if found is None:
        raise AttachmentError(f"the block of {kind} {place} for node {here.machine.name} is full")
    return [found]


def _block(scene: Scene, here: Here, plural: str, place: str, pool: Object, ledger: Ledger) -> Block:
    known = (plural, place)
    if known not in ledger.allocations:
        before = (pool.get("status") or {}).get("allocations") or ()
        ledger.allocations[known] = [one for one in before if one["nodeName"] in scene.nodes]
    make = ip_block if plural == IP_POOLS else cidr_block
    block = make(pool, here.machine.name, ledger.allocations[known])
    if block.allocation not in ledger.allocations[known]:
        kept = [one for one in ledger.allocations[known] if one["nodeName"] != here.machine.name]
        ledger.allocations[known] = [*kept, block.allocation]
        ledger.changed.add(known)
    return block


def _whereabouts(_scene: Scene, _here: Here, key: str, ipam: Object, ledger: Ledger) -> list[Address]:
    ranges = [ipam, *(ipam.get("ipRanges") or ())] if ipam.get("range") else ipam.get("ipRanges") or ()
    if not ranges or not all(one.get("range") for one in ranges):
        raise AttachmentError(f"definition {key}: whereabouts has no range, so it gives no address")
    taken = set(ledger.held[_WHEREABOUTS])
    chosen: list[Address] = []
    for one in ranges:
        found = next((each for each in _within(key, one) if each not in taken), None)
        if found is None:
            raise AttachmentError(f"definition {key}: range {one['range']} is full")
        chosen.append(found)
        taken.add(found)
    return chosen


def _within(key: str, stated: Object) -> Iterator[Address]:
    """Yield the addresses of one range of whereabouts: a network, or its part between two addresses."""
    text = str(stated["range"])
    first, dash, rest = text.partition("-")
    try:
        network = ip_network(rest if dash else text, strict=False)
        start = ip_address(stated.get("range_start") or (first.strip() if dash else network[1]))
        end = ip_address(stated.get("range_end") or (rest.partition("/")[0] if dash else network[-2]))
        excluded = [ip_network(one, strict=False) for one in stated.get("exclude") or ()]
    except (ValueError, IndexError):
        raise AttachmentError(f"definition {key}: {text} is no range that whereabouts reads") from None
    for number in range(int(start), int(end) + 1):
        one = address(network.version, number)
        if not any(one in each for each in excluded):
            yield one
