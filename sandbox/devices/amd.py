"""AMD's operator and its operands: why a machine's GPUs are not handed out, or what is published for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.devices.amd_config import PREFIX, enabled, obstacles, selects, spec_of, spelled_selector
from sandbox.devices.amd_partition import Mode, Partitioned, partition
from sandbox.devices.amd_slices import DRIVER, devices
from sandbox.devices.feature_rules import domain
from sandbox.devices.others import DEFAULT_LIBRARY, Outcome
from sandbox.devices.placement import spelled, untolerated
from sandbox.devices.slices import slice_of

if TYPE_CHECKING:
    from sandbox.devices.discovery import Discovered
    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.view import View

PROFILE, STATE = "dcm.amd.com/gpu-config-profile", "dcm.amd.com/gpu-config-profile-state"
_DCM_TOLERATION = {"key": "amd-dcm", "operator": "Equal", "value": "up", "effect": "NoExecute"}
# Partition labels that the node labeller sets only when nodeLabellerArguments name them.
_ON_DEMAND = ("compute-memory-partition", "compute-partitioning-supported", "memory-partitioning-supported")


def play(view: View, machine: Machine, card: Card, discovered: Discovered) -> Outcome:
    """Return what AMD's operator makes of a machine with its cards."""
    labels = {key: value for key, value in machine.labels.items() if not domain(key)} | discovered.labels
    chosen = [one for one in view.others.device_configs if selects(spec_of(one).get("selector"), labels)]
    if not chosen:
        return Outcome(discovered.reason or _unselected(view, discovered))
    # A node stays with the DeviceConfig that it was assigned to first; the operator refuses the later one.
    config = min(chosen, key=lambda one: (one["metadata"].get("creationTimestamp") or "", one["metadata"]["name"]))
    if reason := next(obstacles(view, machine, config), None):
        return Outcome(reason)
    done = _partitioned(view, config, machine, card, labels)
    found = _labels(config, machine, card, done)
    if enabled(config, "draDriver", "enable", default=False):
        wanted = slice_of(DRIVER, machine.name, devices(card, done.modes), machine.uid)
        return Outcome(_told(done, "devices published in a ResourceSlice"), found, slices=(wanted,))
    resources = _resources(config, done)
    if not resources:
        sentence = "the device plugin ends: cards of several modes need resource_naming_strategy mixed"
        return Outcome(sentence, found)
    return Outcome(_told(done, "GPUs published"), found, resources)


def _unselected(view: View, discovered: Discovered) -> str:
    if not view.others.device_configs:
        return "no DeviceConfig of AMD's operator is in the cluster"
    wanted = "; ".join(spelled_selector(spec_of(one).get("selector")) for one in view.others.device_configs)
    given = ", ".join(sorted(key.rpartition("/")[2] for key in discovered.labels if "amd-" in key)) or "none for AMD"
    return f"no DeviceConfig selects the node: they select {wanted}, NodeFeatureRules gave {given}"


def _partitioned(view: View, config: Object, machine: Machine, card: Card, labels: dict[str, str]) -> Partitioned:
    """Return what the device config manager makes of the node's request; cards that nobody partitions are whole."""
    whole = Partitioned((Mode(),) * machine.count)
    wanted, manager = machine.labels.get(PROFILE), spec_of(config).get("configManager") or {}
    if not wanted:
        return whole
    selector = manager.get("selector") or spec_of(config).get("selector")
    reason = ""
    if not manager.get("enable"):
        reason = "configManager.enable is false"
    elif not selects(selector, labels):
        reason = f"configManager.selector is {spelled_selector(selector)}"
    elif machine.system == "talos":
        # It mounts these with type Directory; neither Talos nor its kubelet image makes /run/systemd.
        reason = "the device config manager mounts /run/systemd, which Talos does not have"
    elif taint := untolerated(machine, [_DCM_TOLERATION, *(manager.get("configManagerTolerations") or ())]):
        reason = f"configManagerTolerations do not tolerate taint {spelled(taint)}"
    name = (manager.get("config") or {}).get("name") or DEFAULT_LIBRARY
    library = view.others.libraries.get(f"{config['metadata']['namespace']}/{name}")
    if not reason and library is None:
        reason = f"the device config manager mounts ConfigMap {name}, which is not there"
    if reason:
        return Partitioned(whole.modes, sentence=f"nobody applies profile {wanted}: {reason}")
    return partition((library or {}).get("config.json"), wanted, card, machine.count)


def _resources(config: Object, done: Partitioned) -> dict[str, str]:
    """Return what the device plugin makes allocatable (cmd/k8s-device-plugin/main.go of ROCm/k8s-device-plugin)."""
    arguments = (spec_of(config).get("devicePlugin") or {}).get("devicePluginArguments") or {}
    counts = done.counts
    if arguments.get("resource_naming_strategy") == "mixed":
        return {PREFIX + name: str(number) for name, number in counts.items()}
    return {PREFIX + "gpu": str(sum(counts.values()))} if len(counts) == 1 else {}


def _labels(config: Object, machine: Machine, card: Card, done: Partitioned) -> dict[str, str]:
    """Return the labels of the manager and of the node labeller, which runs apart from the device plugin."""
    found = {STATE: done.state} if done.state else {}
    plugin = spec_of(config).get("devicePlugin") or {}
    tolerated = not untolerated(machine, plugin.get("nodeLabellerTolerations") or ())
    if not (plugin.get("enableNodeLabeller", True) and tolerated):
        return found
    found |= {f"{PREFIX}gpu.product-name": card.product, f"{PREFIX}gpu.device-id": card.pci.get("device", "")}
    kinds = {one.parts: one for one in done.modes}
    if len(kinds) == 1:  # where values differ, the labeller counts each in a label of its own
        parts = next(iter(kinds))
        found |= {
            f"{PREFIX}gpu.vram": f"{round(card.memory / 1024 / parts)}G",
            f"{PREFIX}gpu.cu-count": str(card.units // parts),
            f"{PREFIX}gpu.simd-count": str(card.units * 4 // parts),
        }
    able = str(bool(card.modes)).lower()
    asked = [one for one in _ON_DEMAND if one in (plugin.get("nodeLabellerArguments") or ())]
    values = dict.fromkeys(_ON_DEMAND, able) | {_ON_DEMAND[0]: next(iter(done.counts)) if len(done.counts) == 1 else ""}
    return found | {f"{PREFIX}gpu.{one}": values[one] for one in asked if values[one]}


def _told(done: Partitioned, what: str) -> str:
    said = ", ".join(f"{number} {name}" for name, number in done.counts.items())
    count = f"{sum(done.counts.values())} {what}"
    return done.sentence or (f"{count}: {said}" if done.state else count)
