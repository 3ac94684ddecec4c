"""Addresses that overlap, do not suffice, or belong to two nodes."""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from gpu_platform.findings import finding
from gpu_platform.planning.fabric import addresses
from gpu_platform.planning.fabric.groups import pools, rails
from gpu_platform.planning.fabric.modes import row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.fabric import Fabric
    from gpu_platform.settings.root import Settings

PATH = "fabric.rails"


def address_findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the rails' addresses; nothing where pods get none."""
    fabric = settings.fabric
    if fabric is None or not addresses.needed(settings):
        return
    if fabric.rails is None:
        yield finding("RDMA-010", PATH, "pods get addresses on the rails, and nobody says which", _example(settings))
        return
    net = ipaddress.ip_network(fabric.rails.supernet)
    if net.version != 4:
        yield finding("RDMA-010", f"{PATH}.supernet", "rails have IPv4 addresses", _example(settings))
        return
    if net.is_loopback or net.is_link_local or net.is_multicast:
        yield finding("RDMA-010", f"{PATH}.supernet", f"{net} is no range for rails", _example(settings))
        return
    if fabric.ipam == "whereabouts" and fabric.addresses == "static":
        message = "whereabouts gives pods any address of a rail's range, whatever their node's slot"
        yield finding("RDMA-024", "fabric.addresses", message, "write addresses: dynamic, or ipam: nv-ipam")
    yield from _overlaps(settings, net)
    room = addresses.room(fabric.rails)
    if room < rails(settings):
        message = f"{net} holds {room} networks of /{fabric.rails.rail_prefix}, and there are {rails(settings)} rails"
        yield finding("RDMA-012", f"{PATH}.railPrefix", message, "write a larger supernet, or a longer railPrefix")
        return
    yield from _room(settings, fabric)


def _example(settings: Settings) -> str:
    return f"write rails: {{supernet: 192.168.0.0/16, railPrefix: {22 if rails(settings) <= 64 else 24}}}"


def _overlaps(settings: Settings, net: ipaddress.IPv4Network | ipaddress.IPv6Network) -> Iterator[Finding]:
    networks = settings.cluster.networks if settings.cluster else None
    for name, text in networks or ():
        other = ipaddress.ip_network(text) if text else None
        if other and other.version == net.version and other.overlaps(net):
            message = f"{net} overlaps the cluster's {name} network {other}"
            yield finding("RDMA-011", f"{PATH}.supernet", message, "choose a range that nobody else uses")


def _room(settings: Settings, fabric: Fabric) -> Iterator[Finding]:
    nets = addresses.subnets(settings)
    if row(settings)["vfs"] and fabric.block_size and fabric.block_size < fabric.vfs:
        message = (
            f"each port has {fabric.vfs} virtual functions, and its node {fabric.block_size} addresses for their pods"
        )
        fix = f"write blockSize: {fabric.vfs}, or leave it out"
        yield finding("RDMA-017", "fabric.blockSize", message, fix)
    block, nodes = addresses.block_size(settings), addresses.attached(settings)
    capacity = addresses.capacity(block, nets[0], static=fabric.addresses == "static")
    if fabric.addresses == "dynamic":
        if len(nodes) > capacity:
            message = f"each rail's {nets[0]} has {capacity} blocks of {block}, and there are {len(nodes)} nodes"
            yield finding(
                "RDMA-012", f"{PATH}.railPrefix", message, "write a shorter railPrefix or a smaller blockSize"
            )
        return
    yield from _slots(settings, capacity)


def _slots(settings: Settings, capacity: int) -> Iterator[Finding]:
    taken = addresses.slots(settings)
    owners: dict[int, str] = {}
    free = iter(
        slot for slot in range(len(taken) + len(addresses.attached(settings)) + 1) if slot not in taken.values()
    )
    for name, pool in pools(settings).items():
        for node_name, node in pool.nodes.items():
            path = f"inventory.pools.{name}.nodes.{node_name}.slot"
            if node.slot is None:
                if node.state != "retired":
                    message = "with static addresses every node has a slot of its own"
                    yield finding("RDMA-013", path, message, f"write slot: {next(free)}")
            elif owners.setdefault(node.slot, node_name) != node_name:
                message = f"slot {node.slot} is that of {owners[node.slot]}"
                yield finding("RDMA-013", path, message, f"write slot: {next(free)}")
            elif node.slot >= capacity:
                message = f"slot {node.slot} lies outside: each rail has {capacity}"
                yield finding("RDMA-013", path, message, f"write slot: {next(free)}, or a shorter railPrefix")
