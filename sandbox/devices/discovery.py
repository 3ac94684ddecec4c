"""Node Feature Discovery: the labels that its workers give a machine, or why they give none."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import yaml

from sandbox.devices import feature_rules
from sandbox.devices.placement import ENFORCE, admits_privileged, spelled, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.view import View

FEATURE = "feature.node.kubernetes.io/"
# What a worker does without a configuration (source/pci in kubernetes-sigs/node-feature-discovery v0.19).
_CLASSES, _FIELDS = ("03", "0b40", "12"), ("class", "vendor")
_FIELD_ORDER = ("class", "vendor", "device", "subsystem_vendor", "subsystem_device")


@dataclass(frozen=True)
class Discovered:
    """Labels of one machine, and the sentence that says why its cards are not among them."""

    labels: dict[str, str] = field(default_factory=dict)
    reason: str | None = None


def discover(view: View, machine: Machine) -> Discovered:
    """Return what a worker on this machine publishes, and what the master's rules add."""
    obstacle = next(_obstacles(view, machine), None)
    if obstacle:
        return Discovered(reason=obstacle)
    config = _config(view.worker_config or "")
    if not isinstance(config, dict):
        return Discovered(reason="the NFD worker's configuration is not a YAML mapping")
    core = _section(config, "core")
    if core.get("noPublish"):
        return Discovered(reason="the NFD worker's configuration says core.noPublish")
    found = _sources(config, core, machine)
    # Rules see every PCI device: the whitelist is about the worker's own labels.
    rules = view.others.rules if _enabled(core.get("featureSources") or ["all"], "pci") else ()
    return Discovered(found.labels | feature_rules.labels(rules, machine), found.reason)


def _sources(config: Object, core: Object, machine: Machine) -> Discovered:
    """Return the labels of the worker's own sources, or why its cards are not among them."""
    sources = core.get("labelSources") or ["all"]
    labels = _system(machine) if _enabled(sources, "system") else {}
    labels |= (
        {FEATURE + "kernel-version.full": machine.kernel} if machine.kernel and _enabled(sources, "kernel") else {}
    )
    if machine.card is None:
        return Discovered(labels)
    if not _enabled(sources, "pci"):
        return Discovered(labels, "the NFD worker's configuration leaves source pci out of core.labelSources")
    pci = _section(_section(config, "sources"), "pci")
    label = _pci_label(pci, machine.card)
    if label is None:
        found = ", ".join(map(str, pci.get("deviceClassWhitelist") or _CLASSES))
        wanted = machine.card.pci["class"]
        return Discovered(labels, f"the NFD worker looks at PCI classes {found}, the cards are of class {wanted}")
    return Discovered(labels | {label: "true"})


def _obstacles(view: View, machine: Machine) -> Iterator[str]:
    """Yield what keeps a worker from running on the machine."""
    if view.worker is None:
        yield "no NFD worker DaemonSet is in the cluster"
        return
    space = view.worker["metadata"]["namespace"]
    pod = view.worker["spec"]["template"]["spec"]
    if machine.system == "talos" and not admits_privileged(view.namespaces.get(space)):
        yield f"namespace {space} of the NFD workers lacks {ENFORCE}=privileged, and Talos refuses their host paths"
    if machine.system == "talos" and "/usr/src" in _host_paths(pod):
        yield "the NFD worker mounts /usr/src, which Talos does not have: leave worker.mountUsrSrc false"
    for key, value in (pod.get("nodeSelector") or {}).items():
        if machine.labels.get(key) != value:
            yield f"the NFD worker selects nodes with {key}={value}"
    if taint := untolerated(machine, pod.get("tolerations") or ()):
        yield f"the NFD worker does not tolerate taint {spelled(taint)}"
    if view.worker_config is None:
        yield "the NFD worker mounts no configuration that exists, so its pods do not start"


@lru_cache(maxsize=4)  # it is the same text for every node and nearly every round
def _config(text: str) -> Any:
    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError:
        return None


def _section(config: Object, key: str) -> Object:
    found = config.get(key)
    return found if isinstance(found, dict) else {}


def _host_paths(pod: Object) -> list[str]:
    return [volume["hostPath"]["path"] for volume in pod.get("volumes") or () if volume.get("hostPath")]


def _enabled(sources: list[str], name: str) -> bool:
    return f"-{name}" not in sources and (name in sources or "all" in sources)


def _system(machine: Machine) -> dict[str, str]:
    if not machine.system:
        return {}
    labels = {FEATURE + "system-os_release.ID": machine.system}
    if machine.release:
        labels[FEATURE + "system-os_release.VERSION_ID"] = machine.release
    return labels


def _pci_label(pci: Object, card: Card) -> str | None:
    """Return the label of a card under this configuration; fields come in the worker's order, not in the list's."""
    classes = [str(one).lower() for one in pci.get("deviceClassWhitelist") or _CLASSES]
    if not any(card.pci["class"].startswith(prefix) for prefix in classes):
        return None
    wanted = [one for one in _FIELD_ORDER if one in (pci.get("deviceLabelFields") or ())] or list(_FIELDS)
    return f"{FEATURE}pci-{'_'.join(card.pci.get(one, '0000') for one in wanted)}.present"
