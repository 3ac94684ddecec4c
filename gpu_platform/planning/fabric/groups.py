"""Pools on the fabric: which port of their machines is which rail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_platform import facts

if TYPE_CHECKING:
    from gpu_platform.settings.inventory import Nics, Pool
    from gpu_platform.settings.root import Settings


@dataclass(frozen=True)
class Port:
    """One rail of a pool's machines: its port, the RDMA device where it is known, and the interface's name."""

    pci: str
    hca: str | None
    interface: str


@dataclass(frozen=True)
class Group:
    """A pool on the fabric; `north_south` are ports that must never be handed out."""

    pool: str
    fabric: str
    device: str
    ports: tuple[Port, ...]
    north_south: tuple[str, ...]


def profiles() -> dict[str, dict[str, Any]]:
    """Return the server models by name."""
    return dict(facts.table("nics"))


def groups(settings: Settings) -> tuple[Group, ...]:
    """Return every pool on the fabric whose rails are known, in the inventory's order."""
    pools = settings.inventory.pools if settings.inventory else {}
    found = ((name, pool) for name, pool in pools.items() if pool.nics)
    made = (_group(name, pool.nics) for name, pool in found if pool.nics)
    return tuple(one for one in made if one is not None)


def _group(name: str, nics: Nics) -> Group | None:
    if nics.rails:
        stated = tuple(Port(one.pci, one.hca, one.interface or interface(one.pci, nics.fabric)) for one in nics.rails)
        return Group(name, nics.fabric, nics.device or "", stated, nics.north_south)
    row = profiles().get(nics.profile or "")
    if row is None:
        return None
    ports = tuple(
        Port(pci, hca, interface(pci, nics.fabric)) for pci, hca in zip(row["rails"], _hcas(row), strict=True)
    )
    return Group(name, nics.fabric, row["device"], ports, (*row["north_south"], *nics.north_south))


def _hcas(row: dict[str, Any]) -> list[str | None]:
    """Return the RDMA devices of a model's rails; the driver counts along the bus, ports off the fabric too."""
    order = sorted((*row["rails"], *row["north_south"]))
    found = row.get("hcas", [f"mlx5_{order.index(pci)}" for pci in row["rails"]])
    return list(found) or [None] * len(row["rails"])


def interface(pci: str, fabric: str) -> str:
    """Return the name that a port's interface has by its place on the bus (systemd.net-naming-scheme)."""
    domain, bus, rest = pci.split(":")
    slot, function = rest.split(".")
    place = f"p{int(bus, 16)}s{int(slot, 16)}"
    place = f"P{int(domain, 16)}{place}" if int(domain, 16) else place
    if fabric == "infiniband":
        return f"ib{place}" + (f"f{function}" if int(function) else "")
    return f"en{place}f{function}np{function}"


def pools(settings: Settings) -> dict[str, Pool]:
    """Return the pools on the fabric by name."""
    found = settings.inventory.pools if settings.inventory else {}
    return {one.pool: found[one.pool] for one in groups(settings)}


def rails(settings: Settings) -> int:
    """Return how many rails the fabric has: as many as the pool with the most."""
    return max((len(one.ports) for one in groups(settings)), default=0)
