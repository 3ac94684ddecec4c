"""Addresses on the rails: rail n has the n-th network, a node has a block there, and nobody is ever renumbered."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from gpu_platform.planning.fabric.groups import pools, rails
from gpu_platform.planning.fabric.modes import row

if TYPE_CHECKING:
    from gpu_platform.settings.fabric import Fabric, RailNetworks
    from gpu_platform.settings.root import Settings

IPv4 = ipaddress.IPv4Network


def needed(settings: Settings) -> bool:
    """Tell whether pods get addresses: where a mode attaches them to networks."""
    return bool(row(settings)["network"])


def room(stated: RailNetworks) -> int:
    """Return how many rails a supernet holds; 0 where a rail's network is larger than it."""
    net = ipaddress.ip_network(stated.supernet)
    return 0 if stated.rail_prefix < net.prefixlen else 1 << (stated.rail_prefix - net.prefixlen)


def subnet(stated: RailNetworks, rail: int) -> IPv4:
    """Return the network of a rail: it depends on its number alone. Needs a supernet with room for it."""
    net = IPv4(stated.supernet)
    size = 1 << (32 - stated.rail_prefix)
    return IPv4((int(net.network_address) + rail * size, stated.rail_prefix))


def subnets(settings: Settings) -> tuple[IPv4, ...]:
    """Return the network of every rail; none where pods get no addresses, or nobody says from where."""
    stated = settings.fabric.rails if settings.fabric else None
    if stated is None or not needed(settings):
        return ()
    return tuple(subnet(stated, rail) for rail in range(min(rails(settings), room(stated))))


def block_prefix(fabric: Fabric) -> int:
    """Return the prefix length of a node's static block: the power of two that holds its pods."""
    return 32 - max(fabric.block_size - 1, 0).bit_length()


def static_block(fabric: Fabric, rail: IPv4, slot: int) -> IPv4:
    """Return the block of a slot on a rail; slot 0 begins after the first block, which holds the network's address."""
    size = 1 << (32 - block_prefix(fabric))
    return IPv4((int(rail.network_address) + (slot + 1) * size, block_prefix(fabric)))


def capacity(fabric: Fabric, rail: IPv4) -> int:
    """Return how many nodes find a block on a rail."""
    if fabric.addresses == "static":
        # The first block has the network's address, the last one the broadcast address.
        return max(rail.num_addresses // (1 << (32 - block_prefix(fabric))) - 2, 0)
    return (rail.num_addresses - 2) // fabric.block_size


def attached(settings: Settings) -> list[str]:
    """Return the nodes that want a block: all that are in or will be."""
    return [name for pool in pools(settings).values() for name, node in pool.nodes.items() if node.state != "retired"]


def slots(settings: Settings) -> dict[str, int]:
    """Return the slot of every node that has one; those of retired nodes are kept."""
    return {
        name: node.slot
        for pool in pools(settings).values()
        for name, node in pool.nodes.items()
        if node.slot is not None
    }
