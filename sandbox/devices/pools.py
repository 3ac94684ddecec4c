"""Pools of nv-ipam: the block of addresses that a node has of one, in order of first need."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from itertools import count
from typing import TYPE_CHECKING

from sandbox.devices.networks import AttachmentError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sandbox.devices.hardware import Object

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

API, IP_POOLS, CIDR_POOLS = "nv-ipam.nvidia.com/v1alpha1", "ippools", "cidrpools"
# In a smaller prefix every address is one of a point-to-point link.
_POINT_TO_POINT = 2
_IPV4 = 4


@dataclass(frozen=True)
class Block:
    """What one node has of a pool: the entry of the pool's status, and the addresses that pods get."""

    allocation: Object
    addresses: Iterator[Address]


def ip_block(pool: Object, node: str, allocations: Iterable[Object]) -> Block:
    """Return a node's block of an IPPool: the one that it has, else the first that is free."""
    spec, name = pool["spec"], pool["metadata"]["name"]
    network, size = _network(name, spec["subnet"]), int(spec["perNodeBlockSize"])
    first, last = int(network[0]) + 1, int(network[-1]) - (network.version == _IPV4)
    if size < 1 or first + size - 1 > last:
        raise AttachmentError(f"ippool {name}: subnet {network} has no room for a block of {size}")
    taken: dict[int, str] = {}
    for one in allocations:
        start, end = int(ip_address(one["startIP"])), int(ip_address(one["endIP"]))
        # What another subnet or size left behind is nobody's block any more.
        if (start - first) % size == 0 and end == start + size - 1 and first <= start and end <= last:
            taken[start] = one["nodeName"]
    start = next((at for at, owner in taken.items() if owner == node), None) or next(
        at for at in count(first, size) if at not in taken
    )
    if start + size - 1 > last:
        raise AttachmentError(f"ippool {name} has no block left for node {node}")
    addresses = [address(network.version, start + offset) for offset in range(size)]
    allocation = {"nodeName": node, "startIP": str(addresses[0]), "endIP": str(addresses[-1])}
    return Block(allocation, _free(spec, addresses, spec.get("gateway")))


def cidr_block(pool: Object, node: str, allocations: Iterable[Object]) -> Block:
    """Return a node's prefix of a CIDRPool: the static one, else the one that it has, else the first that is free."""
    spec, name = pool["spec"], pool["metadata"]["name"]
    network, length = _network(name, spec["cidr"]), int(spec["perNodeNetworkPrefix"])
    if not network.prefixlen <= length <= network.max_prefixlen:
        raise AttachmentError(f"cidrpool {name}: {network} has no prefixes of length {length}")
    static = spec.get("staticAllocations") or ()
    own = next((one for one in static if one.get("nodeName") == node), None)
    if own is None:
        reserved = {str(one["prefix"]) for one in static}
        there = {one["prefix"]: one["nodeName"] for one in allocations if one["prefix"] not in reserved}
        taken = reserved | set(there)
        mine = next((one for one, owner in there.items() if owner == node and _fits(one, network, length)), None)
        prefix = mine or next((str(one) for one in network.subnets(new_prefix=length) if str(one) not in taken), None)
        if prefix is None:
            raise AttachmentError(f"cidrpool {name} has no prefix left for node {node}")
        own = {"prefix": prefix}
    if not _fits(own["prefix"], network, length):
        raise AttachmentError(f"cidrpool {name}: {own['prefix']} is no prefix of length {length} in {network}")
    return _of_prefix(spec, node, own)


def _of_prefix(spec: Object, node: str, own: Object) -> Block:
    prefix, index = ip_network(own["prefix"]), spec.get("gatewayIndex")
    first, last = int(prefix[0]), int(prefix[-1])
    gateway = own.get("gateway") or (None if index is None else str(address(prefix.version, first + index)))
    if prefix.num_addresses > _POINT_TO_POINT:
        first, last = first + 1, last - 1
    inner = (address(prefix.version, number) for number in range(first, last + 1))
    allocation = {"nodeName": node, "prefix": own["prefix"], **({"gateway": gateway} if gateway else {})}
    return Block(allocation, _free(spec, inner, gateway))


def _fits(prefix: str, network: Network, length: int) -> bool:
    try:
        found = ip_network(prefix)
    except ValueError:
        return False
    inside = int(network[0]) <= int(found[0]) and int(found[-1]) <= int(network[-1])
    return found.version == network.version and found.prefixlen == length and inside


def _network(name: str, text: str) -> Network:
    try:
        return ip_network(text)
    except ValueError as error:
        raise AttachmentError(f"pool {name}: {error}") from None


def address(version: int, number: int) -> Address:
    """Return the address of a number, which alone would be IPv4 where it is small."""
    return IPv4Address(number) if version == _IPV4 else IPv6Address(number)


def _free(spec: Object, addresses: Iterable[Address], gateway: str | None) -> Iterator[Address]:
    """Yield the addresses that are neither the gateway nor excluded."""
    excluded = [
        range(int(ip_address(one["startIP"])), int(ip_address(one["endIP"])) + 1)
        for one in spec.get("exclusions") or ()
    ]
    for one in addresses:
        if str(one) != gateway and not any(int(one) in each for each in excluded):
            yield one
