"""The fabric as outputs and reports show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning.fabric import addresses, claims, names, networks, policy
from gpu_platform.planning.fabric.groups import Group, groups
from gpu_platform.planning.fabric.modes import mode, network, present, row, runs
from gpu_platform.planning.fabric.workload import Workload, workloads
from gpu_platform.planning.model import FabricPlan, FabricPool, Rail

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.root import Settings


def plan_fabric(settings: Settings) -> FabricPlan | None:
    """Return the fabric as outputs and reports show it; None where no pool is on one."""
    if not present(settings) or settings.fabric is None:
        return None
    pods = {one.pool: one for one in workloads(settings)}
    return FabricPlan(
        mode=mode(settings),
        policy=policy.NAME if runs(settings, "network-operator") else None,
        device_class=names.base(settings) if claims.claimed(settings) else None,
        namespaces=settings.fabric.attach_in,
        capacity=_capacity(settings),
        needs=dict(_needs(settings)),
        cilium_values=dict(facts.table("fabric")["cilium"]["values"]) if row(settings)["cni"] else {},
        pools=tuple(_pool(settings, group, pods[group.pool]) for group in groups(settings)),
    )


def _capacity(settings: Settings) -> int | None:
    nets, fabric = addresses.subnets(settings), settings.fabric
    if not nets or fabric is None:
        return None
    return addresses.capacity(addresses.block_size(settings), nets[0], static=fabric.addresses == "static")


def _needs(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield what this stack does not make, and the mode relies on."""
    fabric, mode_row, rows = settings.fabric, row(settings), facts.table("fabric")
    if mode_row["cni"] and not policy.installs_multus(settings):
        yield "multus", "; ".join(rows["multus_existing"][key] for key in ("netns", "memory"))
    if mode_row["vfs"]:
        count = fabric.vfs if fabric else 0
        yield "firmware", f"SRIOV_EN=1 and NUM_OF_VFS={count} or more in every card, set and rebooted before it joins"
    if fabric and fabric.ufm:
        yield "ufm", f"Secret {fabric.ufm.secret} in the network operator's namespace, before this stack is applied"
    if groups(settings)[0].fabric == "ethernet":
        yield "switches", "priority flow control, ECN and an MTU of 9000 or more on every port of a rail (RoCE)"
    if network(settings):
        yield "cilium", "devices: the uplink alone, or Cilium takes rails for its own"


def _pool(settings: Settings, group: Group, pod: Workload) -> FabricPool:
    nets = networks.subnets_text(settings)
    return FabricPool(
        name=group.pool,
        fabric=group.fabric,
        device=group.device,
        rails=tuple(
            Rail(
                index=index,
                pci=port.pci,
                hca=port.hca,
                interface=port.interface,
                network=names.network(settings, index) if network(settings) else None,
                resource=names.resource(settings, index),
                subnet=nets.get(index),
            )
            for index, port in enumerate(group.ports)
        ),
        networks=pod.networks,
        limits=pod.limits,
        node_selector=pod.node_selector,
        environment=pod.environment,
        claim_template=pod.claim_template,
        patch=pod.patch,
    )
