"""The NicClusterPolicy: device plugins that hand rails out, and the plugins that attach pods to them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.fabric import addresses, names
from gpu_platform.planning.fabric.groups import Group, groups, pools, rails
from gpu_platform.planning.fabric.modes import row
from gpu_platform.planning.labels import FABRIC
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings

NAME = "nic-cluster-policy"
MELLANOX = "15b3"
_LINK_TYPES = {"infiniband": "infiniband", "ethernet": "ether"}


def policy(settings: Settings, version: str) -> dict[str, Any]:
    """Return the one NicClusterPolicy that the operator obeys; `version` is that of the operator's release."""
    mode, fabric = row(settings), settings.fabric
    spec: dict[str, Any] = {}
    if name := mode["plugin"]:
        plugin = _PLUGINS[name](settings)
        spec[name] = {**_image(name, version), "config": _as_json(plugin), "useCdi": False}
    if cni := [one for one in mode["cni"] if one != "multus" or installs_multus(settings)]:
        spec["secondaryNetwork"] = {one: _component(one, version) for one in cni}
    if mode["cni"] and fabric and fabric.ipam == "nv-ipam":
        spec["nvIpam"] = {**_image("nvIpam", version), "enableWebhook": False}
    if mode["vfs"] and fabric and fabric.ufm:
        spec["ibKubernetes"] = {
            **_image("ibKubernetes", version),
            "periodicUpdateSeconds": 5,
            "pKeyGUIDPoolRangeStart": fabric.ufm.guid_start,
            "pKeyGUIDPoolRangeEnd": fabric.ufm.guid_end,
            "ufmSecret": fabric.ufm.secret,
        }
    spec["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_nodes(settings)]}}
    spec["tolerations"] = tolerations(pools(settings).values(), _GPU_TAINT)
    return {"apiVersion": "mellanox.com/v1alpha1", "kind": "NicClusterPolicy", "metadata": {"name": NAME}, "spec": spec}


_GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def installs_multus(settings: Settings) -> bool:
    """Tell whether the policy brings Multus, or somebody else has."""
    return settings.operators is None or settings.operators.multus.manage == "install"


def _nodes(settings: Settings) -> dict[str, Any]:
    """Return the term that selects the nodes on the fabric by their static label, whatever pools there are."""
    return {"matchExpressions": [{"key": FABRIC, "operator": "In", "values": [groups(settings)[0].fabric]}]}


def _image(component: str, version: str) -> dict[str, Any]:
    known = facts.table("fabric")["components"]
    return {
        "image": known[component],
        "repository": known["repository"],
        "version": known["version"].format(version=version),
    }


def _component(component: str, version: str) -> dict[str, Any]:
    found = _image(component, version)
    if component == "multus":
        size = {key: facts.table("fabric")["multus"][key] for key in ("cpu", "memory")}
        found["containerResources"] = [{"name": "kube-multus", "requests": size, "limits": size}]
    return found


def _shared(settings: Settings) -> dict[str, Any]:
    """Return the configuration of the plugin that lets pods share the cards of a rail, or of all rails."""
    mode, fabric = row(settings), settings.fabric
    found = groups(settings)
    link = _LINK_TYPES[found[0].fabric]
    common = {"vendors": [MELLANOX], "deviceIDs": sorted({one.device for one in found}), "linkTypes": [link]}
    entries = []
    for rail in range(rails(settings)) if mode["per_rail"] else range(1):
        selectors = {**common, "ifNames": _interfaces(found, rail)} if mode["per_rail"] else common
        entries.append(
            {
                "resourceName": names.bare_resource(settings, rail),
                "resourcePrefix": mode["prefix"],
                "rdmaHcaMax": fabric.shares if fabric else 0,
                "selectors": selectors,
            }
        )
    return {"periodicUpdateInterval": 300, "configList": entries}


def _interfaces(found: tuple[Group, ...], rail: int) -> list[str]:
    return sorted({one.ports[rail].interface for one in found if rail < len(one.ports)})


def _whole(settings: Settings) -> dict[str, Any]:
    """Return the configuration of the plugin that hands whole ports out, each by its address on the bus."""
    mode, found = row(settings), groups(settings)
    entries = []
    for rail in range(rails(settings)):
        ports = sorted({one.ports[rail].pci for one in found if rail < len(one.ports)})
        entries.append(
            {
                "resourceName": names.bare_resource(settings, rail),
                "resourcePrefix": mode["prefix"],
                "deviceType": "netDevice",
                "selectors": {"vendors": [MELLANOX], "pciAddresses": ports, "isRdma": True},
            }
        )
    return {"resourceList": entries}


def _virtual(settings: Settings) -> dict[str, Any]:
    """Return the configuration of the plugin that hands virtual functions out, by the port that they belong to."""
    found = _whole(settings)
    for entry in found["resourceList"]:
        entry["selectors"]["rootDevices"] = entry["selectors"].pop("pciAddresses")
    return found


def _devices(settings: Settings) -> dict[str, Any]:
    return _virtual(settings) if row(settings)["vfs"] else _whole(settings)


_PLUGINS = {"rdmaSharedDevicePlugin": _shared, "sriovDevicePlugin": _devices}


def _as_json(content: dict[str, Any]) -> str:
    return json.dumps(content, sort_keys=True)


def ip_pools(settings: Settings, namespace: str) -> list[dict[str, Any]]:
    """Return a pool of addresses for each rail, in the operator's namespace, where alone they are watched."""
    fabric = settings.fabric
    assert fabric is not None  # noqa: S101 - a broken section is an error finding, and then nothing is planned
    found, block = [], addresses.block_size(settings)
    for rail, net in enumerate(addresses.subnets(settings)):
        metadata = {"name": names.network(settings, rail), "namespace": namespace}
        selector = {"nodeSelectorTerms": [_nodes(settings)]}
        if fabric.addresses == "static":
            spec: dict[str, Any] = {
                "cidr": str(net),
                "perNodeNetworkPrefix": addresses.block_prefix(block),
                "staticAllocations": [
                    {"nodeName": name, "prefix": str(addresses.static_block(block, net, slot))}
                    for name, slot in sorted(addresses.slots(settings).items(), key=lambda one: one[1])
                ],
            }
            kind = "CIDRPool"
        else:
            spec, kind = {"subnet": str(net), "perNodeBlockSize": block}, "IPPool"
        spec["nodeSelector"] = selector
        found.append({"apiVersion": "nv-ipam.nvidia.com/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec})
    return found
