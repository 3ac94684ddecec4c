"""NetworkAttachmentDefinitions: one for each rail and namespace, complete, whoever reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.fabric import addresses, names
from gpu_platform.planning.fabric.groups import groups, rails
from gpu_platform.planning.fabric.modes import network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.fabric import Fabric
    from gpu_platform.settings.root import Settings

RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"
# Plugins that move a device which the pod was given, and those that build on an interface of the machine.
DEVICES, ON_INTERFACES = frozenset({"host-device", "ib-sriov", "sriov"}), frozenset({"ipoib", "macvlan"})


def attachments(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield the definition of every rail in every namespace whose pods are attached; none where pods need none."""
    fabric, kind = settings.fabric, network(settings)
    if fabric is None or not kind:
        return
    for namespace in fabric.attach_in:
        for rail in range(rails(settings)):
            name = names.network(settings, rail)
            metadata: dict[str, Any] = {"name": name, "namespace": namespace}
            if kind in DEVICES:
                # Multus takes the device that the pod was given of this resource, and hands it to the plugin.
                metadata["annotations"] = {RESOURCE_NAME: names.resource(settings, rail)}
            yield {
                "apiVersion": "k8s.cni.cncf.io/v1",
                "kind": "NetworkAttachmentDefinition",
                "metadata": metadata,
                "spec": {"config": json.dumps(_config(settings, kind, rail, name), sort_keys=True)},
            }


def _config(settings: Settings, kind: str, rail: int, name: str) -> dict[str, Any]:
    fabric = settings.fabric
    assert fabric is not None  # noqa: S101 - attachments has looked
    found: dict[str, Any] = {
        "cniVersion": facts.table("fabric")["cni"]["version"],
        "name": name,
        "type": kind,
        "ipam": _ipam(settings, fabric, rail, name),
    }
    if kind in ON_INTERFACES:
        found["master"] = _master(settings, rail)
    if kind == "macvlan":
        found["mode"] = "bridge"
    if kind in ON_INTERFACES and fabric.mtu:
        found["mtu"] = fabric.mtu
    if kind == "ib-sriov":
        found |= _infiniband(fabric)
    return found


def _ipam(settings: Settings, fabric: Fabric, rail: int, name: str) -> dict[str, Any]:
    if fabric.ipam == "whereabouts":
        # A rail has a range of its own: of one range for all, pods would get addresses of the wrong wire.
        return {"type": "whereabouts", "range": subnets_text(settings).get(rail, ""), "network_name": name}
    pool = "cidrpool" if fabric.addresses == "static" else "ippool"
    return {"type": "nv-ipam", "poolName": name, "poolType": pool}


def _infiniband(fabric: Fabric) -> dict[str, Any]:
    """Return what the plugin is told of a port: up, and of whom the GUID and the partition come."""
    found: dict[str, Any] = {"link_state": "enable"}
    if fabric.ufm:
        found |= {"ibKubernetesEnabled": True, "capabilities": {"infinibandGUID": True}}
    if fabric.pkey:
        found["pkey"] = f"0x{fabric.pkey:x}"
    return found


def _master(settings: Settings, rail: int) -> str:
    """Return the interface of a rail; pools whose interfaces differ are refused (RDMA-014)."""
    return next(one.ports[rail].interface for one in groups(settings) if rail < len(one.ports))


def subnets_text(settings: Settings) -> dict[int, str]:
    """Return the network of each rail as text."""
    return {rail: str(net) for rail, net in enumerate(addresses.subnets(settings))}
