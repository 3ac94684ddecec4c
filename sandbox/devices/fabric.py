"""NVIDIA's network operator and the device plugins of its policy: which rails a machine hands out, or why none."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.devices.placement import ENFORCE, admits_privileged, selected, spelled, untolerated
from sandbox.devices.ports import VENDOR, Port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Machine, Object

POLICY = "nic-cluster-policy"
PRESENT = "feature.node.kubernetes.io/pci-15b3.present"
# A machine without these has no character devices for verbs (k8s-rdma-shared-dev-plugin#44).
MODULES = ("ib_uverbs", "ib_umad", "rdma_ucm")
_TOLERATED = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
_SHARED, _WHOLE = "rdmaSharedDevicePlugin", "sriovDevicePlugin"
_SELECTORS = {"vendors", "deviceIDs", "drivers", "ifNames", "linkTypes"}
_WHOLE_SELECTORS = {"vendors", "devices", "drivers", "pciAddresses", "pfNames", "rootDevices", "linkTypes", "isRdma"}


class FabricError(Exception):
    """One sentence: why no rails are handed out."""


@dataclass(frozen=True)
class Fabric:
    """What the cluster says of the fabric."""

    operator: Object | None = None
    policies: tuple[Object, ...] = ()


@dataclass(frozen=True)
class Rails:
    """What one machine hands out of its ports, and a sentence for people."""

    sentence: str = ""
    resources: dict[str, str] = field(default_factory=dict)


def rails(
    view: Fabric,
    namespaces: dict[str, dict[str, str]],
    machine: Machine,
    ports: tuple[Port, ...],
    labels: dict[str, str],
) -> Rails:
    """Return the rails of a machine with these ports, `labels` all of its node."""
    policy = next((one for one in view.policies if one["metadata"]["name"] == POLICY), None)
    if not ports or policy is None:
        return Rails()
    if reason := next(_obstacles(view, namespaces, machine, policy, labels), None):
        return Rails(reason)
    try:
        handed_out = _handed_out(policy["spec"], ports)
    except FabricError as error:
        return Rails(str(error))
    resources = {name: count for name, (count, _) in handed_out.items()}
    used = [port for _, found in handed_out.values() for port in found]
    if off := [port.pci for port in used if not port.on_fabric]:
        return Rails(f"handed out, though not on the fabric: {', '.join(off)}", resources)
    return Rails(f"{len({port.pci for port in used})} ports handed out as {len(resources)} resources", resources)


def _obstacles(
    view: Fabric, namespaces: dict[str, dict[str, str]], machine: Machine, policy: Object, labels: dict[str, str]
) -> Iterator[str]:
    if view.operator is None or not (view.operator.get("status") or {}).get("availableReplicas"):
        yield "the network operator is not available"
        return
    space = view.operator["metadata"]["namespace"]
    if machine.system == "talos" and not admits_privileged(namespaces.get(space)):
        yield f"namespace {space} lacks {ENFORCE}=privileged, and Talos refuses the device plugins"
    spec = policy["spec"]
    if machine.system == "talos" and spec.get("ofedDriver"):
        yield "ofedDriver loads modules, which no container may do on Talos"
    if labels.get(PRESENT) != "true":
        yield f"device plugins want label {PRESENT}"
    if not selected({"affinity": {"nodeAffinity": spec.get("nodeAffinity") or {}}}, labels):
        yield "nodeAffinity of the policy does not choose this node"
    if taint := untolerated(machine, [_TOLERATED, *(spec.get("tolerations") or ())]):
        yield f"the policy does not tolerate taint {spelled(taint)}"
    for module in MODULES:
        if machine.system == "talos" and module not in machine.modules:
            yield f"kernel module {module} is not loaded: the machine configuration does not name it"


def _handed_out(spec: Object, ports: tuple[Port, ...]) -> dict[str, tuple[str, list[Port]]]:
    """Return count and ports of each resource, after checking what the operator checks of each component."""
    shared_version = spec.get("global") or {}
    found: dict[str, tuple[str, list[Port]]] = {}
    for name in (_SHARED, _WHOLE):
        component = spec.get(name)
        if component is None:
            continue
        for key in ("image", "repository", "version"):
            if not (component.get(key) or shared_version.get(key)):
                raise FabricError(f"{name}: {key} is required")
        if component.get("useCdi"):
            raise FabricError(f"{name}: useCdi writes to /etc/pcidp, which is read-only on Talos")
        found |= _shared(component, ports) if name == _SHARED else _whole(component, ports)
    return found


def _config(component: Object) -> Any:
    try:
        return json.loads(component.get("config") or "")
    except ValueError:
        raise FabricError("the configuration of the device plugin is not JSON") from None


def _shared(component: Object, ports: tuple[Port, ...]) -> dict[str, tuple[str, list[Port]]]:
    found: dict[str, tuple[str, list[Port]]] = {}
    names: set[str] = set()
    for entry in _config(component).get("configList") or ():
        name, selectors = entry.get("resourceName", ""), entry.get("selectors") or {}
        if not name or "-" in name or name in names:
            raise FabricError(f"resource {name!r} is no name for the device plugin's socket, or stands twice")
        if not isinstance(entry.get("rdmaHcaMax"), int):
            raise FabricError(f"resource {name}: rdmaHcaMax is required")
        if unknown := set(selectors) - _SELECTORS:
            raise FabricError(f"resource {name}: unknown selector {min(unknown)}")
        names.add(name)
        matched = [port for port in ports if _matches(selectors, port)]
        if matched:
            found[f"{entry.get('resourcePrefix', 'rdma')}/{name}"] = (str(entry["rdmaHcaMax"]), matched)
    return found


def _whole(component: Object, ports: tuple[Port, ...]) -> dict[str, tuple[str, list[Port]]]:
    found: dict[str, tuple[str, list[Port]]] = {}
    for entry in _config(component).get("resourceList") or ():
        name, selectors = entry.get("resourceName", ""), entry.get("selectors") or {}
        if not name or "-" in name:
            raise FabricError(f"resource {name!r} is no name for the device plugin")
        if unknown := set(selectors) - _WHOLE_SELECTORS:
            raise FabricError(f"resource {name}: unknown selector {min(unknown)}")
        matched = [port for port in ports if _matches(selectors, port)]
        if matched:
            found[f"{entry.get('resourcePrefix', 'nvidia.com')}/{name}"] = (str(len(matched)), matched)
    return found


def _matches(selectors: Object, port: Port) -> bool:
    """Tell whether a port is chosen: by all selectors, by one value of each."""
    values = {
        "vendors": VENDOR,
        "deviceIDs": port.device,
        "devices": port.device,
        "drivers": "mlx5_core",
        "ifNames": port.interface,
        "pfNames": port.interface,
        "pciAddresses": port.pci,
        "rootDevices": port.pci,
        "linkTypes": port.link,
    }
    return all(values[key] in wanted for key, wanted in selectors.items() if key != "isRdma" and wanted)
