"""NVIDIA's network operator and the device plugins of its policy: which rails a machine hands out, or why none."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sandbox.devices.device_plugins import SHARED, WHOLE, FabricError, HandedOut, handed_out
from sandbox.devices.placement import ENFORCE, admitted, selected, spelled, untolerated
from sandbox.devices.ports import MODULES, functions, unmade
from sandbox.devices.sriov import Sriov, make

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Machine, Object
    from sandbox.devices.ports import Port
    from sandbox.devices.sriov import Made

POLICY = "nic-cluster-policy"
PRESENT = "feature.node.kubernetes.io/pci-15b3.present"
# Written on nodes with cards while a policy is reconciled: DaemonSets of device plugins select "false".
WAIT = "network.nvidia.com/operator.mofed.wait"
_TOLERATED = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


@dataclass(frozen=True)
class Fabric:
    """What the cluster says of the fabric."""

    operator: Object | None = None
    policies: tuple[Object, ...] = ()
    sriov: Sriov = field(default_factory=Sriov)

    @property
    def policy(self) -> Object | None:
        """The one NicClusterPolicy that the operator obeys; others it ignores."""
        return next((one for one in self.policies if one["metadata"]["name"] == POLICY), None)


@dataclass(frozen=True)
class Rails:
    """What one machine hands out of its ports, a sentence for people, and every function that it has."""

    sentence: str = ""
    resources: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    # By resource: the functions of which the kubelet gives each to one pod.
    devices: dict[str, tuple[Port, ...]] = field(default_factory=dict)
    functions: tuple[Port, ...] = ()


def rails(
    view: Fabric,
    namespaces: dict[str, dict[str, str]],
    machine: Machine,
    ports: tuple[Port, ...],
    labels: dict[str, str],
) -> Rails:
    """Return the rails of a machine with these ports, `labels` all of its node."""
    here = {key: value for key, value in labels.items() if key != WAIT}
    spec, marked = (view.policy or {}).get("spec") or {}, _marks(view, here)
    made = make(view.sriov, namespaces, machine, ports, {**here, **marked})
    bare = Rails(labels=marked, functions=functions(made.ports))
    plugged = SHARED in spec or WHOLE in spec
    if not ports or not (plugged or made.trouble or made.found.counts):
        return bare
    if reason := next(_obstacles(view, namespaces, machine, spec, labels), None) if plugged else made.trouble:
        return replace(bare, sentence=reason)
    try:
        found = _both(handed_out(spec, made.ports), made, spec)
    except FabricError as error:
        return replace(bare, sentence=str(error))
    sentence = "; ".join([_told(found), *found.notes, *unmade(machine.notes)])
    one_by_one = {name: each for name, each in found.functions.items() if name not in found.shared}
    return replace(bare, sentence=sentence, resources=found.counts, devices=one_by_one)


def _both(found: HandedOut, made: Made, spec: Object) -> HandedOut:
    """Return what the policy's plugins hand out and what the SR-IOV operator's does."""
    if made.found.counts and WHOLE in spec:
        raise FabricError(f"{WHOLE} and the SR-IOV operator's device plugin restart each other's pods: leave out one")
    notes = [*found.notes, *made.found.notes, *([made.trouble] if made.trouble else [])]
    return HandedOut(found.counts | made.found.counts, found.functions | made.found.functions, notes, found.shared)


def _told(found: HandedOut) -> str:
    used = {one.pci: one for handed in found.functions.values() for one in handed}
    if off := [one.pci for one in used.values() if not one.on_fabric]:
        return f"handed out, though not on the fabric: {', '.join(off)}"
    roots = {(one.parent or one).pci for one in used.values()}
    virtual = sum(one.parent is not None for one in used.values())
    what = f"{virtual} VFs of {len(roots)} ports" if virtual else f"{len(roots)} ports"
    return f"{what} handed out as {len(found.counts)} resources"


def _marks(view: Fabric, labels: dict[str, str]) -> dict[str, str]:
    """Return the label by which the operator tells of its driver; on Talos a driver of its own never comes."""
    if view.policy is None or not _available(view) or labels.get(PRESENT) != "true":
        return {}
    return {WAIT: "true" if view.policy["spec"].get("ofedDriver") else "false"}


def _available(view: Fabric) -> bool:
    return view.operator is not None and bool((view.operator.get("status") or {}).get("availableReplicas"))


def _obstacles(
    view: Fabric, namespaces: dict[str, dict[str, str]], machine: Machine, spec: Object, labels: dict[str, str]
) -> Iterator[str]:
    """Yield what keeps the device plugins from handing out anything."""
    yield from unreached(view, namespaces, machine, spec, labels)
    if machine.system == "talos" and spec.get("ofedDriver"):
        yield "ofedDriver loads modules, which no container may do on Talos"
    if labels.get(PRESENT) != "true":
        yield f"device plugins want label {PRESENT}"
    for module in MODULES:
        if machine.system == "talos" and module not in machine.modules:
            yield f"kernel module {module} is not loaded: the machine configuration does not name it"


def unreached(
    view: Fabric, namespaces: dict[str, dict[str, str]], machine: Machine, spec: Object, labels: dict[str, str]
) -> Iterator[str]:
    """Yield what keeps the DaemonSets of a policy off a machine."""
    if view.operator is None or not _available(view):
        yield "the network operator is not available"
        return
    space = view.operator["metadata"]["namespace"]
    if machine.system == "talos" and not admitted(namespaces, space):
        yield f"namespace {space} lacks {ENFORCE}=privileged, and Talos refuses the operator's DaemonSets"
    if not selected({"affinity": {"nodeAffinity": spec.get("nodeAffinity") or {}}}, labels):
        yield "nodeAffinity of the policy does not choose this node"
    if taint := untolerated(machine, [_TOLERATED, *(spec.get("tolerations") or ())]):
        yield f"the policy does not tolerate taint {spelled(taint)}"
