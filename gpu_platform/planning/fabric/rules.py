"""What would leave jobs on TCP, or two machines with one address: modes, cards, ports and names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning import inventory
from gpu_platform.planning.fabric import names
from gpu_platform.planning.fabric.groups import Group, groups, pools, profiles
from gpu_platform.planning.fabric.modes import mode, network, present, row
from gpu_platform.planning.fabric.networks import ON_INTERFACES
from gpu_platform.planning.fabric.rules_addresses import address_findings
from gpu_platform.planning.fabric.rules_modes import mode_findings
from gpu_platform.planning.fabric.rules_virtual import virtual_findings
from gpu_platform.planning.operators.installation import owners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the fabric."""
    for name, pool in settings.inventory.pools.items() if settings.inventory else ():
        if pool.nics and pool.nics.profile and pool.nics.profile not in profiles():
            path = f"inventory.pools.{name}.nics.profile"
            fix = did_you_mean(pool.nics.profile, profiles(), otherwise="write rails: of your own")
            yield finding("RDMA-001", path, f"there is no NIC profile {pool.nics.profile!r}", fix)
    if not present(settings):
        if settings.fabric and settings.fabric.model_fields_set and not _on_it(settings):
            fix = "say nics: for the pools that are on it, or leave the section out"
            yield finding("RDMA-015", "fabric", "no pool is on this fabric: nothing is made of it", fix)
        return
    yield from _namespaces(settings)
    yield from _mode(settings)
    # These modes have an object of its own for each pool.
    yield from _ports(groups(settings), alike=mode(settings) not in {"sriov", "dra"})
    yield from _names(settings)
    yield from _machines(settings)
    yield from mode_findings(settings)
    yield from virtual_findings(settings)
    yield from address_findings(settings)


def _on_it(settings: Settings) -> bool:
    return any(pool.nics for pool in settings.inventory.pools.values()) if settings.inventory else True


def _namespaces(settings: Settings) -> Iterator[Finding]:
    """Yield namespaces that this stack must not make, since others own them and their labels."""
    fabric, taken = settings.fabric, {**owners(settings), "default": "Kubernetes"}
    for index, name in enumerate(fabric.attach_in if fabric and fabric.create_namespaces else ()):
        if name in taken:
            message = f"namespace {name} belongs to {taken[name]}, and createNamespaces would make it anew"
            yield finding("RDMA-016", f"fabric.attachIn[{index}]", message, "name a namespace of jobs")


def _mode(settings: Settings) -> Iterator[Finding]:
    first, *others = groups(settings)
    for one in others:
        if one.fabric != first.fabric:
            message = (
                f"pool {first.pool} is on {first.fabric}, and this one on {one.fabric}: there is one mode for both"
            )
            yield finding("RDMA-003", f"inventory.pools.{one.pool}.nics.fabric", message, "give each its own cluster")
            return
    wanted = row(settings)["fabric"]
    if wanted not in {"any", first.fabric}:
        known = [
            name for name, each in facts.table("fabric")["mode"].items() if each["fabric"] in {"any", first.fabric}
        ]
        message = f"mode {mode(settings)} is for {wanted}, and pool {first.pool} is on {first.fabric}"
        yield finding("RDMA-002", "fabric.mode", message, f"write one of {', '.join(known)}")
    fabric, most = settings.fabric, row(settings).get("mtu_most")
    if fabric and fabric.mtu and most and fabric.mtu > most:
        message = f"IPoIB on Talos is in datagram mode, whose MTU is {most} at most, not {fabric.mtu}"
        yield finding("RDMA-004", "fabric.mtu", message, f"write {most}, or 2044 where the fabric's own MTU is 2048")


def _ports(found: tuple[Group, ...], *, alike: bool) -> Iterator[Finding]:
    """Device plugins have one configuration for all nodes: an address means the same everywhere, or is refused.

    `alike` is whether there is one for all nodes.
    """
    rails: dict[str, tuple[int, str]] = {}
    off = {pci: one.pool for one in found for pci in one.north_south}
    for one in found:
        path = f"inventory.pools.{one.pool}.nics"
        seen: set[str] = set()
        rails, off = (rails, off) if alike else ({}, dict.fromkeys(one.north_south, one.pool))
        for rail, port in enumerate(one.ports):
            if port.pci in seen:
                yield finding("RDMA-005", path, f"port {port.pci} is two rails of this pool", "name each port once")
            elif port.pci in off:
                message = (
                    f"port {port.pci} is rail {rail} here, and off the fabric (northSouth) in pool {off[port.pci]}"
                )
                yield finding("RDMA-005", path, message, "correct one of the two")
            elif rails.setdefault(port.pci, (rail, one.pool))[0] != rail:
                other, pool = rails[port.pci]
                message = f"port {port.pci} is rail {rail} here, and rail {other} in pool {pool}"
                yield finding("RDMA-005", path, message, "number rails alike: the same rail is the same leaf switch")
            seen.add(port.pci)


def _names(settings: Settings) -> Iterator[Finding]:
    most = min(names.LONGEST_LABEL, names.LONGEST_RESOURCE) - names.SUFFIX
    if len(names.base(settings)) > most:
        message = "this name is too long: the rails' are made of it, and of them the device plugin's socket"
        yield finding("RDMA-006", "fabric.name", message, f"write one of {most} characters at most")


def _machines(settings: Settings) -> Iterator[Finding]:
    for name, pool in pools(settings).items():
        path = f"inventory.pools.{name}"
        if pool.os != "talos":
            message = "the fabric's device plugins are set up for Talos: other nodes bring drivers of their own"
            yield finding("RDMA-007", f"{path}.nics", message, "leave nics out, or write os: talos")
        group = next(one for one in groups(settings) if one.pool == name)
        cards = inventory.per_node(pool)
        if cards and len(group.ports) % cards and cards != 2 * len(group.ports):
            message = f"{cards} GPUs and {len(group.ports)} rails: some GPUs have no rail of their own"
            yield finding("RDMA-008", f"{path}.nics", message, "correct perNode or the rails, or accept it")
        first = groups(settings)[0]
        if network(settings) in ON_INTERFACES and _interfaces(group, first):
            rail = _interfaces(group, first)[0]
            mine, theirs = group.ports[rail].interface, first.ports[rail].interface
            message = f"rail {rail} is {mine} here, and {theirs} in pool {first.pool}: a network names one"
            yield finding("RDMA-014", f"{path}.nics", message, "write mode: host-device, which goes by the bus")
        if not all(port.hca for port in group.ports) and not network(settings):
            message = "nobody says what the RDMA devices are called: NCCL would use others, too"
            yield finding("RDMA-009", f"{path}.nics.rails", message, "write hca: for each rail, such as mlx5_0")


def _interfaces(one: Group, other: Group) -> list[int]:
    """Return the rails whose interfaces have two names."""
    both = zip(one.ports, other.ports, strict=False)
    return [rail for rail, (mine, theirs) in enumerate(both) if mine.interface != theirs.interface]
