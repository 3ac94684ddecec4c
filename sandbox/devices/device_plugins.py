"""The device plugins of a NicClusterPolicy: what each hands out of a machine's ports and their VFs."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sandbox.devices.ports import VENDOR, functions

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object
    from sandbox.devices.ports import Port

SHARED, WHOLE = "rdmaSharedDevicePlugin", "sriovDevicePlugin"
_SELECTORS = {"vendors", "deviceIDs", "drivers", "ifNames", "linkTypes"}
_WHOLE_SELECTORS = {"vendors", "devices", "drivers", "pciAddresses", "pfNames", "rootDevices", "linkTypes", "isRdma"}
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


class FabricError(Exception):
    """One sentence: why no rails are handed out."""


@dataclass
class HandedOut:
    """Count and functions of each resource, and what people wonder about."""

    counts: dict[str, str] = field(default_factory=dict)
    functions: dict[str, tuple[Port, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # Resources whose every unit is all of its functions.
    shared: set[str] = field(default_factory=set)


def required(spec: Object, component: Object, name: str) -> None:
    """Raise FabricError where the operator could not name a component's image."""
    shared = spec.get("global") or {}
    for key in ("image", "repository", "version"):
        if not (component.get(key) or shared.get(key)):
            raise FabricError(f"{name}: {key} is required")


def handed_out(spec: Object, ports: tuple[Port, ...]) -> HandedOut:
    """Return what the plugins of a policy hand out, after checking what the operator checks of each component."""
    found = HandedOut()
    for name, play in ((SHARED, _shared), (WHOLE, _whole)):
        component = spec.get(name)
        if component is None:
            continue
        required(spec, component, name)
        if component.get("useCdi"):
            raise FabricError(f"{name}: useCdi writes to /etc/pcidp, which is read-only on Talos")
        play(_config(component), functions(ports), found)
    return found


def _config(component: Object) -> Any:
    try:
        return json.loads(component.get("config") or "")
    except ValueError:
        raise FabricError("the configuration of the device plugin is not JSON") from None


def _shared(config: Object, every: tuple[Port, ...], found: HandedOut) -> None:
    names: set[str] = set()
    for entry in config.get("configList") or ():
        name, selectors = entry.get("resourceName", ""), entry.get("selectors") or {}
        if not name or "-" in name or name in names:
            raise FabricError(f"resource {name!r} is no name for the device plugin's socket, or stands twice")
        if not isinstance(entry.get("rdmaHcaMax"), int):
            raise FabricError(f"resource {name}: rdmaHcaMax is required")
        if unknown := set(selectors) - _SELECTORS:
            raise FabricError(f"resource {name}: unknown selector {min(unknown)}")
        names.add(name)
        if matched := [one for one in every if _matches(selectors, one)]:
            full = f"{entry.get('resourcePrefix', 'rdma')}/{name}"
            found.counts[full], found.functions[full] = str(entry["rdmaHcaMax"]), tuple(matched)
            found.shared.add(full)


def _whole(config: Object, every: tuple[Port, ...], found: HandedOut) -> None:
    taken: set[str] = set()
    for entry in config.get("resourceList") or ():
        name, selectors = entry.get("resourceName", ""), entry.get("selectors") or {}
        full = f"{entry.get('resourcePrefix', 'nvidia.com')}/{name}"
        if not name or "-" in name:
            raise FabricError(f"resource {name!r} is no name for the device plugin")
        if full in found.counts:
            raise FabricError(f"resource {full} stands twice")
        if unknown := set(selectors) - _WHOLE_SELECTORS:
            raise FabricError(f"resource {name}: unknown selector {min(unknown)}")
        if (kind := entry.get("deviceType", "netDevice")) != "netDevice":
            raise FabricError(f"resource {name}: deviceType {kind} is not the one of network cards, netDevice")
        matched = [one for one in every if one.pci not in taken and _matches(selectors, one)]
        # A port with VFs is never handed out itself (sriov-network-device-plugin skips it).
        whole = [one for one in matched if not one.vfs]
        if whole:
            found.counts[full], found.functions[full] = str(len(whole)), tuple(whole)
        else:
            found.notes.append(f"{full} has no device: {_missing(selectors, matched)}")
        taken |= {one.pci for one in whole}


def _missing(selectors: Object, matched: list[Port]) -> str:
    if matched:
        return f"{matched[0].pci} has VFs, so it is not handed out itself"
    ranged = any("#" in one for key in ("rootDevices", "pfNames") for one in selectors.get(key) or ())
    return "no VF is where its selectors look" if ranged else "its selectors match none"


def _matches(selectors: Object, port: Port) -> bool:
    """Tell whether a function is chosen: by all selectors, by one value of each."""
    values = {
        "vendors": VENDOR,
        "deviceIDs": port.device,
        "devices": port.device,
        "drivers": "mlx5_core",
        "ifNames": port.interface,
        "pciAddresses": port.pci,
        "linkTypes": port.link,
    }
    physical = port.parent or port
    roots = {"pfNames": physical.interface, "rootDevices": physical.pci}
    plain = (values[key] in wanted for key, wanted in selectors.items() if key in values and wanted)
    ranged = (
        any(_within(one, roots[key], port.number) for one in wanted)
        for key, wanted in selectors.items()
        if key in roots and wanted
    )
    return all(plain) and all(ranged)


def _within(wanted: str, root: str, number: int) -> bool:
    """Tell whether ROOT or ROOT#0-3,5 chooses the function with this number."""
    name, hashed, ranges = wanted.partition("#")
    if not hashed:
        return name == root
    spans = [_RANGE.fullmatch(part) for part in ranges.split(",")]
    if None in spans:
        raise FabricError(f"selector {wanted} has no range of VFs after #")
    return name == root and any(one and int(one[1]) <= number <= int(one[2] or one[1]) for one in spans)
