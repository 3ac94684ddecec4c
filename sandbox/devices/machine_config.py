"""What Talos makes of a machine configuration patch, decoded as strictly as Talos does."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Object

# Kinds that are documents of their own since this release, and unknown before it.
_DOCUMENTS_SINCE = (1, 14)
_DOCUMENTS = {
    "KernelModuleConfig",
    "SysctlConfig",
    "SysfsConfig",
    "UdevRulesConfig",
    "CRICustomizationConfig",
    "EtcFileConfig",
    "KubeNodeConfig",
    "KubeletConfig",
    "UnattendedInstallConfig",
    "CRIBaseRuntimeSpecConfig",
}
# Keys of the documents that replace parts of the first one (siderolabs/talos v1.14.0-rc.1).
_KEYS = {
    "KubeNodeConfig": {"skipNodeRegistration", "registerWithFQDN", "nodeIP", "labels", "annotations", "taints"},
    "KubeletConfig": {"image", "config", "extraArgs", "clusterDNS", "defaultRuntimeSeccompProfileEnabled"},
    "UnattendedInstallConfig": {"reboot", "installer", "provisioning"},
    "CRIBaseRuntimeSpecConfig": {"overrides"},
    "SysfsConfig": {"params", "sysfs"},
}
_TOP = {"version", "debug", "persist", "machine", "cluster"}
_MACHINE = {
    "type", "token", "ca", "acceptedCAs", "certSANs", "controlPlane", "kubelet", "pods", "network", "disks", "install",
    "files", "env", "time", "sysctls", "sysfs", "registries", "systemDiskEncryption", "features", "udev", "logging",
    "kernel", "seccompProfiles", "baseRuntimeSpecOverrides", "nodeLabels", "nodeAnnotations", "nodeTaints",
}  # fmt: skip
_KUBELET = {
    "image", "clusterDNS", "extraArgs", "extraMounts", "extraConfig", "credentialProviderConfig",
    "defaultRuntimeSeccompProfileEnabled", "registerWithFQDN", "nodeIP", "skipNodeRegistration",
    "disableManifestsDirectory",
}  # fmt: skip


@dataclass(frozen=True)
class MachineConfig:
    """What a patch asks of the machine; refused is why Talos does not take it."""

    installer: str = ""
    modules: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[Object, ...] = ()
    # Files under /sys, as they are written.
    sysfs: dict[str, str] = field(default_factory=dict)
    refused: str | None = None


def read(patch: str, release: str) -> MachineConfig:
    """Return what Talos of this release reads in a patch of one or more YAML documents."""
    try:
        documents = [one for one in yaml.safe_load_all(patch) if one]
    except yaml.YAMLError:
        return MachineConfig(refused="the machine configuration patch is not YAML")
    if reason := next(_troubles(documents, release), None):
        return MachineConfig(refused=f"Talos {release} refuses the machine configuration: {reason}")
    if reason := _two_places(documents):
        return MachineConfig(refused=f"Talos {release} refuses the machine configuration: {reason}")
    machine: Object = next((one.get("machine") or {} for one in documents if "kind" not in one), {})
    kernel, kubelet = machine.get("kernel") or {}, machine.get("kubelet") or {}
    modules = [one["name"] for one in kernel.get("modules") or ()]
    modules += [one["name"] for one in documents if one.get("kind") == "KernelModuleConfig"]
    by_kind = {str(one.get("kind")): one for one in documents}
    labels = {**(machine.get("nodeLabels") or {}), **((by_kind.get("KubeNodeConfig") or {}).get("labels") or {})}
    extra = {**(kubelet.get("extraConfig") or {}), **((by_kind.get("KubeletConfig") or {}).get("config") or {})}
    if forbidden := next(_forbidden(labels), None):
        return MachineConfig(refused=f"the API server does not let a kubelet set label {forbidden}")
    return MachineConfig(
        installer=str((machine.get("install") or {}).get("image") or ""),
        modules=tuple(dict.fromkeys(modules)),
        labels={key: str(value) for key, value in labels.items()},
        taints=tuple(extra.get("registerWithTaints") or ()),
        sysfs=_sysfs(machine, by_kind.get("SysfsConfig") or {}),
    )


def _sysfs(machine: Object, document: Object) -> dict[str, str]:
    """Return values by path under /sys; the document has precedence.

    In a key that begins with a dotted part, dots separate; in one that begins with a slashed part they stay.
    """
    stated = {**(machine.get("sysfs") or {}), **(document.get("sysfs") or {}), **(document.get("params") or {})}
    return {_path(str(key)): str(value) for key, value in stated.items()}


def _path(key: str) -> str:
    separator = next((one for one in key if one in "./"), "/")
    return key if separator == "/" else key.translate(str.maketrans("./", "/."))


def _troubles(documents: list[Any], release: str) -> Iterator[str]:
    for document in documents:
        if not isinstance(document, dict):
            yield "a document is no mapping"
        elif "kind" in document:
            yield from _document(document, release)
        else:
            yield from _unknown(document, _TOP, "")
            machine = document.get("machine") or {}
            yield from _unknown(machine, _MACHINE, "machine.")
            yield from _unknown(machine.get("kernel") or {}, {"modules"}, "machine.kernel.")
            yield from _unknown(machine.get("kubelet") or {}, _KUBELET, "machine.kubelet.")


def _document(document: Object, release: str) -> Iterator[str]:
    kind, found = str(document["kind"]), re.match(r"v?(\d+)\.(\d+)", release)
    old = not found or (int(found[1]), int(found[2])) < _DOCUMENTS_SINCE
    if kind not in _DOCUMENTS or old:
        yield f"unknown kind {kind}"
    if document.get("apiVersion") != "v1alpha1":
        yield f"kind {kind} is of apiVersion v1alpha1"
    if kind in _KEYS:
        yield from _unknown(document, {"apiVersion", "kind", *_KEYS[kind]}, f"{kind}.")
    if kind == "KernelModuleConfig":
        yield from _unknown(document, {"apiVersion", "kind", "name", "parameters"}, f"{kind}.")
        if not document.get("name"):
            yield f"{kind}.name is missing"


def _two_places(documents: list[Object]) -> str | None:
    """Return the key that stands both in the first document and in one of its own, which Talos refuses."""
    machine: Object = next((one.get("machine") or {} for one in documents if "kind" not in one), {})
    kinds = {one.get("kind") for one in documents}
    for kind, key in (
        ("KubeNodeConfig", "nodeLabels"),
        ("KubeletConfig", "kubelet"),
        ("UnattendedInstallConfig", "install"),
        ("CRIBaseRuntimeSpecConfig", "baseRuntimeSpecOverrides"),
    ):
        if kind in kinds and key in machine:
            return f"{kind} and machine.{key} are both set"
    return None


def _unknown(section: Object, known: set[str], where: str) -> Iterator[str]:
    for key in section:
        if key not in known:
            yield f"unknown key {where}{key}"


def _forbidden(labels: Object) -> Iterator[str]:
    """Yield the labels that admission plugin NodeRestriction refuses."""
    for key in labels:
        domain = "." + key.rpartition("/")[0]
        reserved = domain.endswith((".kubernetes.io", ".k8s.io"))
        if reserved and not domain.endswith((".node.kubernetes.io", ".kubelet.kubernetes.io")):
            yield key
