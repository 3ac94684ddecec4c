"""dranet: the network devices that it tells of for claims, or why it tells of none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sandbox.devices.image import minor
from sandbox.devices.placement import ENFORCE, admitted, selected, spelled, untolerated
from sandbox.devices.ports import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Machine, Object
    from sandbox.devices.ports import Port

DRIVER = "dra.net"
# The first release of Talos whose containerd has NRI on (siderolabs/talos, commit 9ae260b55).
_NRI = (1, 14)
_REGISTRY = "/var/lib/kubelet/plugins_registry"
# A netdev of an InfiniBand port is this module's; verbs need none.
_IPOIB = "ib_ipoib"
# Root complexes of cards come first, sixteen buses apart; a port that no card shares one with has this.
_OWN_ROOT = 0xF0


@dataclass(frozen=True)
class Claims:
    """What the driver does on one machine: the devices of its slice, or a sentence why it tells of none."""

    devices: tuple[Object, ...] = ()
    trouble: str = ""


def claims(
    plugin: Object | None,
    namespaces: dict[str, dict[str, str]],
    machine: Machine,
    ports: tuple[Port, ...],
    labels: dict[str, str],
) -> Claims | None:
    """Return what the driver tells of a machine's ports; None where its pods do not run."""
    if plugin is None or not ports or not selected(plugin["spec"]["template"]["spec"], labels):
        return None
    if trouble := next(_obstacles(plugin, namespaces, machine), None):
        return Claims(trouble=trouble)
    return Claims(tuple(_devices(machine, ports)))


def _obstacles(plugin: Object, namespaces: dict[str, dict[str, str]], machine: Machine) -> Iterator[str]:
    space, pod = plugin["metadata"]["namespace"], plugin["spec"]["template"]["spec"]
    talos = machine.system == "talos"
    if talos and not admitted(namespaces, space):
        yield f"namespace {space} of dranet lacks {ENFORCE}=privileged, and Talos refuses its pods"
    if taint := untolerated(machine, pod.get("tolerations") or ()):
        yield f"dranet does not tolerate taint {spelled(taint)}"
    if talos and minor(machine.release) < _NRI:
        yield f"NRI is off in Talos {machine.release}: dranet needs v1.14"
    paths = [volume["hostPath"]["path"] for volume in pod.get("volumes") or () if volume.get("hostPath")]
    if _REGISTRY not in paths:
        yield f"dranet registers elsewhere than in {_REGISTRY}, where the kubelet looks: kubeletRootDir"


def _devices(machine: Machine, ports: tuple[Port, ...]) -> Iterator[Object]:
    """Yield a device for each port but the uplink, which is the first that is not on the fabric."""
    uplink = next((one for one in ports if not one.on_fabric), None)
    verbs = machine.system != "talos" or all(one in machine.modules for one in MODULES)
    rails = [one for one in ports if one.on_fabric]
    for index, port in enumerate(ports):
        if port is uplink:
            continue
        found: dict[str, Any] = {
            f"{DRIVER}/pciAddress": {"string": port.pci},
            f"{DRIVER}/rdma": {"bool": verbs},
            f"{DRIVER}/rdmaDevice": {"string": f"mlx5_{index}"},
            f"{DRIVER}/numaNode": {"int": int(index * 2 >= len(ports))},
            "resource.kubernetes.io/pcieRoot": {"string": _root(port, rails, machine.count)},
        }
        if port.link == "ether" or machine.system != "talos" or _IPOIB in machine.modules:
            found[f"{DRIVER}/ifName"] = {"string": port.interface}
        name = port.pci.translate(str.maketrans(":.", "--"))
        yield {"name": f"pci-{name}", "attributes": dict(sorted(found.items()))}


def _root(port: Port, rails: list[Port], cards: int) -> str:
    """Return the root complex of a port: rails are spread over those of the cards in the order of the bus."""
    domain = port.pci.partition(":")[0]
    if not cards:
        return f"pci{domain}:00"
    return f"pci{domain}:{rails.index(port) * cards // len(rails) * 16 if port.on_fabric else _OWN_ROOT:02x}"
