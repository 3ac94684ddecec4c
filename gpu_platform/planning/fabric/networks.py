"""NetworkAttachmentDefinitions: one for each rail and namespace, complete, whoever reads them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.fabric import addresses, names
from gpu_platform.planning.fabric.groups import groups, rails
from gpu_platform.planning.fabric.modes import row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.root import Settings

RESOURCE_NAME = "k8s.v1.cni.cncf.io/resourceName"


def attachments(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield the definition of every rail in every namespace whose pods are attached; none where pods need none."""
    fabric, kind = settings.fabric, row(settings)["network"]
    if fabric is None or not kind:
        return
    for namespace in fabric.attach_in:
        for rail in range(rails(settings)):
            name = names.network(settings, rail)
            metadata: dict[str, Any] = {"name": name, "namespace": namespace}
            if kind == "host-device":
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
    pool = "cidrpool" if fabric and fabric.addresses == "static" else "ippool"
    found: dict[str, Any] = {
        "cniVersion": facts.table("fabric")["cni"]["version"],
        "name": name,
        "type": kind,
        "ipam": {"type": "nv-ipam", "poolName": name, "poolType": pool},
    }
    if kind in {"ipoib", "macvlan"}:
        found["master"] = _master(settings, rail)
    if kind == "macvlan":
        found["mode"] = "bridge"
    if kind != "host-device" and fabric and fabric.mtu:
        found["mtu"] = fabric.mtu
    return found


def _master(settings: Settings, rail: int) -> str:
    """Return the interface of a rail; pools whose interfaces differ are refused (RDMA-014)."""
    return next(one.ports[rail].interface for one in groups(settings) if rail < len(one.ports))


def subnets_text(settings: Settings) -> dict[int, str]:
    """Return the network of each rail as text."""
    return {rail: str(net) for rail, net in enumerate(addresses.subnets(settings))}
