"""Multus, the kubelet's device manager and IPAM at once: what pods that are on a node get of their networks."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.devices.addresses import Ledger, assign, pool_of
from sandbox.devices.cni import binaries, multus_missing
from sandbox.devices.networks import ASKED, TOLD, AttachmentError, Definition, Request, definition, requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sandbox.devices.cni import Here, Scene
    from sandbox.devices.hardware import Object
    from sandbox.devices.ports import Port

ERROR = "sandbox.gpu-platform/attachment-error"
# These move one device of a pod into it; what each is for, and whether it takes a physical function.
_MOVES = {"host-device": ("", True), "ib-sriov": ("infiniband", False), "sriov": ("ether", False)}
# These put an interface of their own on a master.
_MASTERS = {"ipoib": "infiniband", "macvlan": "ether", "ipvlan": "ether"}
_IPOIB = "ib_ipoib"


@dataclass
class Held:
    """What pods hold: addresses, and devices by node."""

    addresses: Ledger = field(default_factory=Ledger)
    devices: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


@dataclass(frozen=True)
class Verdict:
    """What becomes of one pod: its network status, or one sentence."""

    pod: Object
    status: str = ""
    error: str = ""


def judge(scene: Scene, pods: Iterable[Object], here: Callable[[str], Here | None]) -> tuple[list[Verdict], Ledger]:
    """Return what becomes of every pod that waits for its networks, in the order in which they were made."""
    held, waiting = Held(), []
    for pod in pods:
        if TOLD in pod["metadata"]["annotations"]:
            _note(scene, pod, held)
        else:
            waiting.append(pod)
    found = []
    for pod in sorted(waiting, key=lambda one: one["metadata"].get("creationTimestamp") or ""):
        node = here(pod["spec"]["nodeName"])
        if node is None:
            continue
        try:
            told = _attach(scene, node, pod, held)
        except AttachmentError as error:
            found.append(Verdict(pod, error=str(error)))
            continue
        ready = {**pod, "metadata": {**pod["metadata"], "annotations": {TOLD: json.dumps(told)}}}
        _note(scene, ready, held)
        found.append(Verdict(pod, status=json.dumps(told)))
    return found, held.addresses


def _note(scene: Scene, pod: Object, held: Held) -> None:
    """Note what a pod holds by its own status, so that a simulator begun anew knows it too."""
    for one in json.loads(pod["metadata"]["annotations"][TOLD]):
        try:
            pool = pool_of(definition(one["name"], scene.definitions.get(one["name"])).ipam)
        except AttachmentError:  # the definition went, the pod stays
            pool = f"the former {one['name']}"
        held.addresses.hold(pool, one.get("ips") or ())
        if address := ((one.get("device-info") or {}).get("pci") or {}).get("pci-address"):
            held.devices[pod["spec"]["nodeName"]].add(address)


def _attach(scene: Scene, here: Here, pod: Object, held: Held) -> list[Object]:
    """Return the network status of a pod; the first network that fails fails all."""
    if reason := multus_missing(scene, here):
        raise AttachmentError(reason)
    asked = requests(pod)
    found = [(one, definition(one.key, scene.definitions.get(one.key))) for one in asked]
    there = binaries(scene, here)
    for _, each in found:
        for kind in (*(str(one["type"]) for one in each.plugins), str(each.ipam.get("type") or "")):
            if kind and kind not in there:
                raise AttachmentError(f"definition {each.key}: failed to find plugin {kind} in path [/opt/cni/bin]")
    # Of this pod alone: only a pod that gets everything holds anything.
    mine = Held(Ledger(), defaultdict(set, {here.machine.name: set(held.devices[here.machine.name])}))
    mine.addresses.held.update({pool: set(taken) for pool, taken in held.addresses.held.items()})
    mine.addresses.allocations, mine.addresses.changed = held.addresses.allocations, held.addresses.changed
    told = []
    for one, each in found:
        device = _device(scene, here, pod, one, each, [other for _, other in found], mine)
        _master(here, each)
        ips = assign(scene, here, each.key, each.ipam, mine.addresses)
        mine.addresses.hold(pool_of(each.ipam), ips)
        entry: Object = {"name": each.key, "interface": one.interface, "ips": ips, "dns": {}}
        if device is not None:
            mine.devices[here.machine.name].add(device.pci)
            entry["device-info"] = {"type": "pci", "version": "1.1.0", "pci": {"pci-address": device.pci}}
        told.append(entry)
    return told


def _device(
    scene: Scene, here: Here, pod: Object, asked: Request, one: Definition, every: list[Definition], mine: Held
) -> Port | None:
    """Return the function that a plugin moves into a pod; None where it moves none."""
    kind = str(one.main["type"])
    if kind not in _MOVES:
        return None
    if not one.resource:
        raise AttachmentError(f"definition {one.key}: VF pci addr is required: it has no annotation of a resource")
    limit, wanted = _limit(pod, one.resource), sum(each.resource == one.resource for each in every)
    if limit < wanted:
        raise AttachmentError(
            f"definition {one.key}: VF pci addr is required: the pod has {limit} of {one.resource} "
            f"for {wanted} attachments"
        )
    handed = here.published.devices.get(one.resource, ())
    found = next((each for each in handed if each.pci not in mine.devices[here.machine.name]), None)
    if found is None:
        raise AttachmentError(
            f"definition {one.key}: VF pci addr is required: node {here.machine.name} has no {one.resource} left"
        )
    _moves(scene, asked, one, kind, found)
    return found


def _moves(scene: Scene, asked: Request, one: Definition, kind: str, found: Port) -> None:
    link, whole = _MOVES[kind]
    if link and found.link != link:
        raise AttachmentError(f"definition {one.key}: {kind} is for {link}, {found.pci} speaks {found.link}")
    if found.parent is None:
        if not whole:
            raise AttachmentError(f"definition {one.key}: {kind} moves VFs, and {found.pci} is none")
        return
    sources = (asked.guid, found.parent.guids, ((scene.fabric.policy or {}).get("spec") or {}).get("ibKubernetes"))
    # A VF begins with a GUID of zeros (ib-sriov-cni#66).
    if kind == "ib-sriov" and not any(sources):
        raise AttachmentError(f"definition {one.key}: VF {found.pci} GUID is not valid: nobody has given it one")


def _master(here: Here, one: Definition) -> None:
    """Check the interface that a plugin puts its own on."""
    kind = str(one.main["type"])
    link, master = _MASTERS.get(kind), str(one.main.get("master") or "")
    if link is None:
        return
    if not master:
        raise AttachmentError(f"definition {one.key}: without master, {kind} takes the interface of the default route")
    found = next((each for each in here.published.functions if each.interface == master), None)
    if found is None:
        raise AttachmentError(f"definition {one.key}: node {here.machine.name} has no interface {master}")
    if found.link != link:
        raise AttachmentError(f"definition {one.key}: {kind} is for {link}, {master} speaks {found.link}")
    if kind == "ipoib" and here.machine.system == "talos" and _IPOIB not in here.machine.modules:
        raise AttachmentError(f"definition {one.key}: kernel module {_IPOIB} is not loaded, so there is no {master}")


def _limit(pod: Object, resource: str) -> int:
    containers = pod["spec"].get("containers") or ()
    return sum(int(((one.get("resources") or {}).get("limits") or {}).get(resource, 0)) for one in containers)


def asks(pod: Object) -> bool:
    """Tell whether a pod is on a node, runs there, and has networks to get or to hold."""
    notes, phase = pod["metadata"].get("annotations") or {}, (pod.get("status") or {}).get("phase")
    ended = phase in {"Succeeded", "Failed"}
    hosted = bool(pod["spec"].get("nodeName")) and not pod["spec"].get("hostNetwork")
    return hosted and not ended and bool(notes.get(ASKED, "").strip())
