"""The NVIDIA operator and its operands: why a machine's GPUs are not handed out, or what is published for them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sandbox.devices.discovery import FEATURE
from sandbox.devices.image import obstacles as image_obstacles
from sandbox.devices.partition import Cut, cut
from sandbox.devices.placement import ENFORCE, admits_privileged, spelled, untolerated
from sandbox.devices.sharing import Shared, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.view import View

RESOURCE = "nvidia.com/gpu"
PRESENT = "nvidia.com/gpu.present"
REQUEST = "nvidia.com/mig.config"
DRIVER_ROOT = "/usr/local"
# The labels by which the operator knows a GPU node, and the ones without which its reconciliation fails.
_MATCHES = tuple(f"{FEATURE}pci-{one}10de.present" for one in ("", "0302_", "0300_"))
_NEEDED = tuple(f"{FEATURE}system-os_release.{one}" for one in ("ID", "VERSION_ID"))
_OPERANDS = {
    "device-plugin": "devicePlugin",
    "gpu-feature-discovery": "gfd",
    "dcgm-exporter": "dcgmExporter",
    "mig-manager": "migManager",
    "dcgm": "dcgm",
    "node-status-exporter": "nodeStatusExporter",
}
# A section without `enabled` counts as on for these, as off for the rest (api/nvidia/v1 of the operator).
_ON_BY_DEFAULT = {"driver", "toolkit", "devicePlugin", "dcgmExporter", "gfd", "migManager", "dcgm"}
_NO_SYMLINKS = "DISABLE_DEV_CHAR_SYMLINK_CREATION"
_TRUE, _FALSE = "true", "false"
_DEPLOY = "nvidia.com/gpu.deploy."
_VALIDATOR = f"{_DEPLOY}operator-validator"


def enabled(policy: Object, section: str) -> bool:
    """Tell whether a section of the ClusterPolicy is on."""
    found = _section(policy, section).get("enabled")
    return section in _ON_BY_DEFAULT if found is None else bool(found)


def recognised(labels: dict[str, str]) -> bool:
    """Tell whether the operator takes a node with these labels for a GPU node."""
    return any(labels.get(one) == _TRUE for one in _MATCHES)


def obstacle(view: View, machine: Machine, card: Card, discovered: dict[str, str]) -> str | None:
    """Return the first reason why the operator hands out none of the machine's GPUs, or None."""
    return next(_obstacles(view, machine, card, discovered), None)


def _obstacles(view: View, machine: Machine, card: Card, discovered: dict[str, str]) -> Iterator[str]:
    if not recognised(discovered):
        published = ", ".join(one.removeprefix(FEATURE) for one in discovered if "/pci-" in one) or "none"
        known = ", ".join(one.removeprefix(FEATURE) for one in _MATCHES)
        yield f"the GPU operator knows GPU nodes by {known}; NFD published {published}"
    for label in _NEEDED:
        if label not in discovered:
            yield f"the GPU operator needs label {label}, which NFD did not publish"
    policy = view.policy
    # Who serves by claims alone hands out no resource: there the label tells that operands run.
    if policy is None or not (machine.handed_out or machine.labels.get(_VALIDATOR) == _TRUE):
        yield from _operator(view, machine)
    if policy is None:
        yield "no ClusterPolicy cluster-policy is in the cluster"
        return
    if opts_out(machine):
        yield f"the node opts out: label {_DEPLOY}operands=false"
    if machine.system == "talos":
        yield from _talos(policy)
        yield from image_obstacles(machine, card)
    if taint := untolerated(machine, _section(policy, "daemonsets").get("tolerations") or ()):
        yield f"daemonsets.tolerations of the ClusterPolicy do not tolerate taint {spelled(taint)}"


def _operator(view: View, machine: Machine) -> Iterator[str]:
    """Yield why no operator takes up the node; operands that run already outlive a restart of their operator."""
    if view.operator is None:
        yield "no Deployment gpu-operator is in the cluster"
        return
    if not view.operator_running:
        yield "the Deployment gpu-operator is not available"
    space = view.operator["metadata"]["namespace"]
    if machine.system == "talos" and not admits_privileged(view.namespaces.get(space)):
        yield f"namespace {space} lacks {ENFORCE}=privileged, and Talos refuses the operator's pods"


def _talos(policy: Object) -> Iterator[str]:
    """Yield what in the ClusterPolicy cannot work where the image brings driver and toolkit."""
    if enabled(policy, "driver"):
        yield "driver.enabled is true: no container may load kernel modules on Talos"
    if enabled(policy, "toolkit"):
        yield "toolkit.enabled is true: the toolkit container writes to Talos' read-only root"
    root = _section(policy, "hostPaths").get("driverInstallDir") or "/run/nvidia/driver"
    if root != DRIVER_ROOT:
        yield f"hostPaths.driverInstallDir is {root}: on Talos the validator finds the driver in {DRIVER_ROOT} alone"
    env = _section(_section(policy, "validator"), "driver").get("env") or ()
    if _TRUE not in [one.get("value") for one in env if one.get("name") == _NO_SYMLINKS]:
        yield f"validator.driver.env lacks {_NO_SYMLINKS}=true: the driver validation loops on /dev/char"


def opts_out(machine: Machine) -> bool:
    """Tell whether a machine takes no operand at all."""
    return machine.labels.get(f"{_DEPLOY}operands") == _FALSE


def deployed(policy: Object, machine: Machine, operand: str) -> bool:
    """Tell whether an operand runs on a machine: it is on, and the machine does not opt out of it."""
    unwanted = opts_out(machine) or machine.labels.get(f"{_DEPLOY}{operand}") == _FALSE
    return enabled(policy, _OPERANDS[operand]) and not unwanted


def labels(policy: Object, machine: Machine, card: Card, done: Cut | None) -> dict[str, str]:
    """Return the labels of a GPU node whose operands run; `done` is what became of its request for slices."""
    found = {PRESENT: _TRUE, _VALIDATOR: _TRUE}
    for label, section in _OPERANDS.items():
        on = enabled(policy, section) and (section != "migManager" or card.mig)
        # The operator leaves a label alone that somebody else has set (controllers/state_manager.go).
        found |= {f"{_DEPLOY}{label}": _TRUE} if on and machine.labels.get(f"{_DEPLOY}{label}") != _FALSE else {}
    found |= {"nvidia.com/mig.config.state": done.state} if done else {}
    if not deployed(policy, machine, "gpu-feature-discovery"):
        return found
    return found | {
        "nvidia.com/gpu.product": card.product,
        "nvidia.com/gpu.count": str(machine.count),
        "nvidia.com/gpu.memory": str(card.memory),
        "nvidia.com/gpu.family": card.family,
        "nvidia.com/gpu.replicas": "1",
        "nvidia.com/mig.capable": str(card.mig).lower(),
        "nvidia.com/mig.strategy": strategy(policy),
    }


def partition(view: View, policy: Object, machine: Machine, card: Card) -> Cut | None:
    """Return what the MIG manager makes of the node's request; None where it does not run on these cards.

    From 0.13 on it waits for systemd, which Talos lacks (mig-parted#356). A node that asks for nothing stays whole.
    """
    manager = _section(policy, "migManager")
    if not (card.mig and deployed(policy, machine, "mig-manager")):
        return None
    found = re.match(r"v?(\d+)\.(\d+)", str(manager.get("version") or ""))
    hangs = machine.system == "talos" and not (found and (int(found[1]), int(found[2])) < (0, 13))
    wanted, whole = machine.labels.get(REQUEST), {RESOURCE: str(machine.count)}
    if wanted is None:
        return Cut("pending" if hangs else "success", whole, f"{machine.count} GPUs published")
    if hangs:
        return Cut("pending", whole, "the MIG manager hangs: it waits for systemd, which Talos lacks")
    return cut(view.mig_library, wanted, card, machine.count, strategy(policy))


def strategy(policy: Object) -> str:
    """Return how slices are called: mixed, single or none."""
    return str(_section(policy, "mig").get("strategy") or "single")


def resources(view: View, policy: Object, machine: Machine, done: Cut | None) -> Shared:
    """Return what the device plugin makes allocatable; raises PluginError where it does not start."""
    if not deployed(policy, machine, "device-plugin"):
        return Shared({})
    unshared = done.resources if done else {RESOURCE: str(machine.count)}
    named = _section(_section(policy, "devicePlugin"), "config")
    # With strategy none the plugin sees no slices, and mixed it refuses by itself.
    sliced = bool(done and any(done.gpus)) and strategy(policy) == "single"
    return share(view.plugin_configs, named, machine.labels, strategy(policy), unshared, sliced=sliced)


def _section(parent: Object, key: str) -> Object:
    """Return a section of a ClusterPolicy, or of one of its sections; empty when it is absent."""
    holder = parent.get("spec") or {} if parent.get("kind") == "ClusterPolicy" else parent
    return holder.get(key) or {}
