"""CNI plugins on a machine: those that it booted with, and those that operators and DaemonSets put there."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.devices.decide import Published
from sandbox.devices.device_plugins import FabricError, required
from sandbox.devices.fabric import Fabric, unreached
from sandbox.devices.placement import ENFORCE, admitted, selected, spelled, untolerated
from sandbox.devices.sriov import daemon_obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Machine, Object

DIRECTORY = "/opt/cni/bin"
# Talos brings six of the reference plugins (siderolabs/talos#10549).
_TALOS = frozenset({"bridge", "firewall", "flannel", "host-local", "loopback", "portmap"})
_REFERENCE = frozenset({
    "bandwidth", "bridge", "dhcp", "dummy", "firewall", "host-device", "host-local", "ipvlan", "loopback", "macvlan",
    "portmap", "ptp", "sbr", "static", "tap", "tuning", "vlan", "vrf",
})  # fmt: skip
# What an image of this name copies.
_BY_IMAGE = {
    "ib-sriov-cni": frozenset({"ib-sriov"}),
    "sriov-cni": frozenset({"sriov"}),
    "rdma-cni": frozenset({"rdma"}),
    "ipoib-cni": frozenset({"ipoib"}),
    "whereabouts": frozenset({"whereabouts"}),
    "plugins": _REFERENCE,
}
_MULTUS = ("multus", "kube-multus-ds")


@dataclass(frozen=True)
class Scene:
    """What of the cluster attachments depend on; definitions and pools by namespace and name."""

    namespaces: dict[str, dict[str, str]] = field(default_factory=dict)
    fabric: Fabric = field(default_factory=Fabric)
    daemon_sets: tuple[Object, ...] = ()
    definitions: dict[str, Object] = field(default_factory=dict)
    ip_pools: dict[str, Object] = field(default_factory=dict)
    cidr_pools: dict[str, Object] = field(default_factory=dict)
    nodes: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Here:
    """One node as attachments see it, `labels` all that it has."""

    machine: Machine
    labels: dict[str, str]
    published: Published = field(default_factory=Published)


def binaries(scene: Scene, here: Here) -> frozenset[str]:
    """Return the plugins that are on a node."""
    found = set(_TALOS if here.machine.system == "talos" else _REFERENCE)
    for section, name, brought in (
        ("secondaryNetwork", "cniPlugins", _REFERENCE),
        ("secondaryNetwork", "ipoib", _BY_IMAGE["ipoib-cni"]),
        ("", "nvIpam", frozenset({"nv-ipam"})),
    ):
        if not next(_component(scene, here, section, name), None):
            found |= brought
    sriov = scene.fabric.sriov
    if sriov.operator and not next(daemon_obstacles(sriov, scene.namespaces, here.machine, here.labels), None):
        found |= {"ib-sriov", "sriov", "rdma"}
    for one in scene.daemon_sets:
        if DIRECTORY in _host_paths(one) and not next(_placement(scene, here, one), None):
            found |= {each for image in _images(one) for each in _BY_IMAGE.get(image, ())}
    return frozenset(found)


def multus_missing(scene: Scene, here: Here) -> str:
    """Return why nobody reads a pod's networks on a node; empty where somebody does."""
    reason = next(_component(scene, here, "secondaryNetwork", "multus"), "")
    own = [one for one in scene.daemon_sets if one["metadata"]["name"] in _MULTUS]
    if not reason or not own:
        return reason and f"Multus does not run here: {reason}"
    others = [next(_placement(scene, here, one), "") for one in own]
    return "" if "" in others else f"Multus does not run here: {others[0]}"


def _component(scene: Scene, here: Here, section: str, name: str) -> Iterator[str]:
    """Yield what keeps a component of the NicClusterPolicy off a node."""
    policy = scene.fabric.policy
    spec = (policy or {}).get("spec") or {}
    component = ((spec.get(section) or {}) if section else spec).get(name)
    if component is None:
        yield f"no NicClusterPolicy has {section}.{name}".replace(" .", " ")
        return
    try:
        required(spec, component, name)
    except FabricError as error:
        yield str(error)
    yield from unreached(scene.fabric, scene.namespaces, here.machine, spec, here.labels)


def _placement(scene: Scene, here: Here, daemon_set: Object) -> Iterator[str]:
    """Yield what keeps a DaemonSet's pods off a node."""
    space, name = daemon_set["metadata"]["namespace"], daemon_set["metadata"]["name"]
    pod = daemon_set["spec"]["template"]["spec"]
    talos = here.machine.system == "talos"
    if not selected(pod, {"kubernetes.io/os": "linux", **here.labels}):
        yield f"DaemonSet {name} does not choose this node"
    if taint := untolerated(here.machine, pod.get("tolerations") or ()):
        yield f"DaemonSet {name} does not tolerate taint {spelled(taint)}"
    if talos and not admitted(scene.namespaces, space):
        yield f"namespace {space} of DaemonSet {name} lacks {ENFORCE}=privileged, and Talos refuses its pods"
    # With /run/netns no new pod starts on the node (multus#1260).
    if talos and name in _MULTUS and "/run/netns" in _host_paths(daemon_set):
        yield f"DaemonSet {name} mounts /run/netns, which on Talos is /var/run/netns"


def _host_paths(daemon_set: Object) -> list[str]:
    volumes = daemon_set["spec"]["template"]["spec"].get("volumes") or ()
    return [str(one["hostPath"]["path"]).rstrip("/") for one in volumes if one.get("hostPath")]


def _images(daemon_set: Object) -> Iterator[str]:
    """Yield the names of a DaemonSet's images, without registry, tag and digest."""
    pod = daemon_set["spec"]["template"]["spec"]
    for one in (*(pod.get("initContainers") or ()), *(pod.get("containers") or ())):
        yield str(one.get("image", "")).partition("@")[0].rpartition("/")[2].partition(":")[0]
