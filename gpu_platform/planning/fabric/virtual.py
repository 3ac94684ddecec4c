"""Virtual functions: who makes them of a port, and the plugins that move them into pods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.fabric import names
from gpu_platform.planning.fabric.groups import groups, pools
from gpu_platform.planning.fabric.modes import present, row
from gpu_platform.planning.labels import FABRIC, PREFIX
from gpu_platform.planning.operators.tolerations import tolerations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.inventory import Pool
    from gpu_platform.settings.root import Settings

_LINK_TYPES = {"infiniband": "ib", "ethernet": "eth"}
_BINARIES = "/opt/cni/bin"


def sysfs(settings: Settings, pool: Pool) -> dict[str, str]:
    """Return what machines of a pool write to make virtual functions of their rails; {} where they make none.

    Keys begin with a slash-separated path, so that Talos leaves the dots of the address alone.
    """
    group = next((one for one in groups(settings) if pools(settings)[one.pool] is pool), None)
    fabric = settings.fabric
    if group is None or fabric is None or row(settings)["vfs"] != "machine":
        return {}
    return {f"bus/pci/devices/{port.pci}/sriov_numvfs": str(fabric.vfs) for port in group.ports}


def node_policies(settings: Settings, namespace: str) -> Iterator[dict[str, Any]]:
    """Yield what the SR-IOV operator makes of each rail of each pool, in its namespace, where alone it looks."""
    fabric = settings.fabric
    if fabric is None or row(settings)["vfs"] != "operator":
        return
    for group in groups(settings):
        for rail, port in enumerate(group.ports):
            yield {
                "apiVersion": "sriovnetwork.openshift.io/v1",
                "kind": "SriovNetworkNodePolicy",
                "metadata": {"name": f"{names.base(settings)}-{group.pool}-rail-{rail}", "namespace": namespace},
                "spec": {
                    "resourceName": names.bare_resource(settings, rail),
                    "nodeSelector": {f"{PREFIX}/pool": group.pool},
                    "nicSelector": {"vendor": "15b3", "rootDevices": [port.pci]},
                    "numVfs": fabric.vfs,
                    "deviceType": "netdevice",
                    "isRdma": True,
                    "linkType": _LINK_TYPES[group.fabric],
                    "priority": 90,
                    **({"mtu": fabric.mtu} if fabric.mtu else {}),
                },
            }


def installer(settings: Settings, namespace: str, version: str) -> dict[str, Any] | None:
    """Return the DaemonSet that brings the plugin for virtual functions where no operator does; None elsewhere."""
    name = row(settings)["binaries"].get(groups(settings)[0].fabric)
    if name is None:
        return None
    rows = facts.table("fabric")
    known = {**rows["components"], "version": rows["components"]["version"].format(version=version)}
    labels = {"app.kubernetes.io/name": name}
    container = {
        "name": name,
        "image": rows["binaries"]["image"].format(**known, name=name),
        "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}, "limits": {"memory": "50Mi"}},
        "securityContext": {"privileged": True},
        "volumeMounts": [{"name": "binaries", "mountPath": f"/host{_BINARIES}"}],
    }
    spec = {
        "nodeSelector": {FABRIC: groups(settings)[0].fabric},
        "tolerations": tolerations(pools(settings).values(), *_EVERYWHERE),
        "containers": [container],
        "volumes": [{"name": "binaries", "hostPath": {"path": _BINARIES}}],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


_EVERYWHERE = ({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},)


def operator_values(settings: Settings) -> dict[str, Any]:
    """Return the values of the SR-IOV operator's own chart within the network operator's; {} where it is off."""
    fabric = settings.fabric
    if fabric is None or not present(settings) or row(settings)["vfs"] != "operator":
        return {}
    selector = {
        "beta.kubernetes.io/os": "linux",
        "network.nvidia.com/operator.mofed.wait": "false",
        FABRIC: groups(settings)[0].fabric,
    }
    config: dict[str, Any] = {
        "deploy": True,
        "configDaemonNodeSelector": selector,
        # It would set the firmware and reboot; on these machines the firmware is set before they join.
        "disablePlugins": ["mellanox"],
    }
    images = {}
    if fabric.sriov_daemon_image:
        images = {"images": {"sriovConfigDaemon": fabric.sriov_daemon_image}}
        config["configDaemonEnvVars"] = dict(facts.table("fabric")["sriov_on_talos"]["environment"])
    operator = {"resourcePrefix": row(settings)["prefix"], "admissionControllers": {"enabled": False}}
    return {
        "sriovNetworkOperator": {"enabled": True},
        "sriov-network-operator": {"operator": operator, **images, "sriovOperatorConfig": config},
    }
