"""The SR-IOV operator: VFs that its config daemon makes for SriovNetworkNodePolicies, or why it makes none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sandbox.devices.device_plugins import FabricError, HandedOut
from sandbox.devices.placement import ENFORCE, admitted
from sandbox.devices.ports import MODULES, functions
from sandbox.devices.sriov_policy import Group, Wanted, checked, groups

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Machine, Object
    from sandbox.devices.ports import Port

# What the config daemon's pods select where the configuration says nothing.
_WORKERS = {"kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": ""}
# The kubelet sets them on every node; kwok knows the newer one alone.
_KUBELET = {"kubernetes.io/os": "linux", "beta.kubernetes.io/os": "linux"}
# The published daemon writes below /etc, which Talos does not let it (sriov-network-operator#1136).
_STOCK = ("nvcr.io/nvidia/mellanox/", "ghcr.io/k8snetworkplumbingwg/")
_STOCK_TAG = "sriov-network-operator-config-daemon:network-operator-v"
_NEEDED = ("UDEV_BASE_PATH", "SKIP_MODPROBE_CONFIG")


@dataclass(frozen=True)
class Sriov:
    """The SR-IOV operator's Deployment and objects."""

    operator: Object | None = None
    configs: tuple[Object, ...] = ()
    policies: tuple[Object, ...] = ()

    @property
    def space(self) -> str:
        """The operator's namespace: it looks at no other."""
        return str(self.operator["metadata"]["namespace"]) if self.operator else ""

    @property
    def environment(self) -> dict[str, str]:
        """What the operator's Deployment tells it of images and names."""
        containers = self.operator["spec"]["template"]["spec"]["containers"] if self.operator else ()
        return {one["name"]: str(one.get("value", "")) for each in containers for one in each.get("env") or ()}


@dataclass(frozen=True)
class Made:
    """The machine's ports with the VFs made, and what is handed out of them; or a sentence why nothing is."""

    ports: tuple[Port, ...]
    found: HandedOut = field(default_factory=HandedOut)
    trouble: str = ""


def make(
    view: Sriov,
    namespaces: dict[str, dict[str, str]],
    machine: Machine,
    ports: tuple[Port, ...],
    labels: dict[str, str],
) -> Made:
    """Return what the config daemon makes of a machine's ports, `labels` all of its node."""
    here = {**_KUBELET, **labels}
    if not any(_chosen(one, here) for one in view.policies):
        return Made(ports)
    if trouble := next(daemon_obstacles(view, namespaces, machine, here), None):
        return Made(ports, trouble=trouble)
    if not any(one["metadata"]["namespace"] == view.space for one in view.policies):
        said = f"the SR-IOV operator ignores SriovNetworkNodePolicies outside its namespace {view.space}"
        return Made(ports, trouble=said)
    wanted = [one for one in view.policies if one["metadata"]["namespace"] == view.space and _chosen(one, here)]
    try:
        by_port = groups([checked(one) for one in wanted], ports)
    except FabricError as error:
        return Made(ports, trouble=str(error))
    made = tuple(_with_vfs(one, by_port.get(one.pci)) for one in ports)
    prefix = view.environment.get("RESOURCE_PREFIX", "")
    return Made(made, _handed_out(prefix, made, {pci: one.groups for pci, one in by_port.items()}))


def _with_vfs(port: Port, wanted: Wanted | None) -> Port:
    if wanted is None or wanted.external:
        return port
    return replace(port, vfs=wanted.count, guids=True)


def daemon_obstacles(
    view: Sriov, namespaces: dict[str, dict[str, str]], machine: Machine, labels: dict[str, str]
) -> Iterator[str]:
    """Yield what keeps the config daemon off a machine."""
    labels = {**_KUBELET, **labels}
    if view.operator is None or not (view.operator.get("status") or {}).get("availableReplicas"):
        yield "the SR-IOV operator is not available"
        return
    space, talos = view.space, machine.system == "talos"
    config = next((one for one in view.configs if _key(one) == (space, "default")), None)
    if config is None:
        yield f"no SriovOperatorConfig default is in namespace {space}: the SR-IOV operator does nothing"
        return
    spec = config.get("spec") or {}
    for key, value in (spec.get("configDaemonNodeSelector") or _WORKERS).items():
        if labels.get(key) != value:
            yield f"the config daemon of the SR-IOV operator selects nodes with {key}={value}"
    if talos:
        yield from _on_talos(view, namespaces, spec)
    for module in MODULES:
        if talos and module not in machine.modules:
            yield f"kernel module {module} is not loaded: the machine configuration does not name it"


def _on_talos(view: Sriov, namespaces: dict[str, dict[str, str]], spec: Object) -> Iterator[str]:
    if not admitted(namespaces, view.space):
        yield f"namespace {view.space} lacks {ENFORCE}=privileged, and Talos refuses the config daemon"
    image = view.environment.get("SRIOV_NETWORK_CONFIG_DAEMON_IMAGE", "")
    if image.startswith(_STOCK) or _STOCK_TAG in image:
        yield f"the config daemon {image} writes to /etc, which is read-only on Talos: images.sriovConfigDaemon"
    for name in _NEEDED:
        if not (spec.get("configDaemonEnvVars") or {}).get(name):
            yield f"configDaemonEnvVars lacks {name}, without which the config daemon writes to /etc on Talos"
    if spec.get("configurationMode", "daemon") != "daemon":
        yield "configurationMode systemd needs a systemd, which Talos does not have"
    if spec.get("useCDI"):
        yield "useCDI writes to /etc/pcidp, which is read-only on Talos"


def _key(one: Object) -> tuple[str, str]:
    return one["metadata"]["namespace"], one["metadata"]["name"]


def _chosen(policy: Object, labels: dict[str, str]) -> bool:
    selector = (policy.get("spec") or {}).get("nodeSelector") or {}
    return all(labels.get(key) == value for key, value in selector.items())


def _handed_out(prefix: str, ports: tuple[Port, ...], by_port: dict[str, list[Group]]) -> HandedOut:
    found = HandedOut()
    for one in functions(ports):
        if one.parent is None:
            continue
        group = next((each for each in by_port.get(one.parent.pci, ()) if one.number in each.numbers), None)
        if group is not None:
            full = f"{prefix}/{group.resource}"
            found.functions[full] = (*found.functions.get(full, ()), one)
            if not group.rdma and (note := f"{full} lacks isRdma: its pods get no verbs") not in found.notes:
                found.notes.append(note)
    found.counts = {name: str(len(each)) for name, each in found.functions.items()}
    return found
