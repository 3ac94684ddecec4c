"""Addresses on the rails: rail n has the n-th network, a node has a block there, and nobody is ever renumbered."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from gpu_platform.planning.fabric.groups import pools, rails
from gpu_platform.planning.fabric.modes import network, row

if TYPE_CHECKING:
    from gpu_platform.settings.fabric import RailNetworks
    from gpu_platform.settings.root import Settings

IPv4 = ipaddress.IPv4Network
# A pod that uses a whole node, those that end while it starts, and one to look with.
DEFAULT_BLOCK = 4


def needed(settings: Settings) -> bool:
    """Tell whether pods get addresses: where a mode attaches them to networks."""
    return bool(network(settings))


def block_size(settings: Settings) -> int:
    """Return how many addresses a node has on each rail."""
    fabric = settings.fabric
    assert fabric is not None  # noqa: S101 - a broken section is an error finding, and then nothing is planned
    return fabric.block_size or (fabric.vfs if row(settings)["vfs"] else DEFAULT_BLOCK)


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


def block_prefix(block: int) -> int:
    """Return the prefix length of a node's static block: the power of two that holds its pods."""
    return 32 - max(block - 1, 0).bit_length()


def static_block(block: int, rail: IPv4, slot: int) -> IPv4:
    """Return the block of a slot on a rail; slot 0 begins after the first block, which holds the network's address."""
    size = 1 << (32 - block_prefix(block))
    return IPv4((int(rail.network_address) + (slot + 1) * size, block_prefix(block)))


def capacity(block: int, rail: IPv4, *, static: bool) -> int:
    """Return how many nodes find a block on a rail."""
    if static:
        # The first block has the network's address, the last one the broadcast address.
        return max(rail.num_addresses // (1 << (32 - block_prefix(block))) - 2, 0)
    return (rail.num_addresses - 2) // block


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
