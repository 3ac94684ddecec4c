"""The machine-config patch of a class, merged from typed contributions, in the form of its machines' configuration."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from gpu_platform import facts
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Contribution:
    """What one part needs of the machine: kernel modules (name to parameters), sysctls, sysfs, labels, taints, runtime.

    `memlock`: containers may lock as much memory as they like.
    """

    owner: str
    modules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    sysfs: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()
    runtime: str | None = None
    memlock: bool = False


@dataclass(frozen=True)
class Conflict:
    """Two contributions that want different values of one setting."""

    setting: str
    owners: tuple[str, str]
    values: tuple[str, str]


def merge(contributions: Iterable[Contribution]) -> tuple[Contribution, tuple[Conflict, ...]]:
    """Return all contributions as one, and the settings on which two of them disagree (the first one stands)."""
    conflicts: list[Conflict] = []
    merged: dict[str, dict[str, Any]] = {"modules": {}, "sysctls": {}, "sysfs": {}, "labels": {}}
    owners: dict[tuple[str, str], str] = {}
    taints: list[dict[str, str]] = []
    runtime: str | None = None
    memlock = False
    for one in contributions:
        for kind, values in merged.items():
            for key, value in getattr(one, kind).items():
                owner = owners.setdefault((kind, key), one.owner)
                kept = values.setdefault(key, value)
                if kept != value:
                    conflicts.append(Conflict(f"{kind}.{key}", (owner, one.owner), (_said(kept), _said(value))))
        taints += [taint for taint in one.taints if taint not in taints]
        runtime, memlock = runtime or one.runtime, memlock or one.memlock
    everything = Contribution("all", **merged, taints=tuple(taints), runtime=runtime, memlock=memlock)
    return everything, tuple(conflicts)


def _said(value: Any) -> str:
    return " ".join(value) or "no parameters" if isinstance(value, tuple) else str(value)


def legacy(talos: str, installer: str, wanted: Contribution, kernel_args: bool) -> str:
    """Return the patch of a configuration that a Talos before 1.14 generated: one document, as YAML text.

    `kernel_args` tells that the image carries kernel arguments, which GRUB nodes read only when told to.
    """
    install: dict[str, Any] = {"image": installer}
    if kernel_args and minor(talos) >= minor(facts.table("machine")["uki_cmdline_on_grub"]["talos"] + ".0"):
        install["grubUseUKICmdline"] = True
    modules = [_module(name, parameters) for name, parameters in sorted(wanted.modules.items())]
    machine = {
        "install": install,
        **({"kernel": {"modules": modules}} if modules else {}),
        **({"sysctls": dict(sorted(wanted.sysctls.items()))} if wanted.sysctls else {}),
        **({"sysfs": dict(sorted(wanted.sysfs.items()))} if wanted.sysfs else {}),
        **({"files": [_runtime_file(wanted.runtime)]} if wanted.runtime else {}),
        **({"baseRuntimeSpecOverrides": _memlock()} if wanted.memlock else {}),
        "nodeLabels": dict(sorted(wanted.labels.items())),
        **({"kubelet": {"extraConfig": _kubelet(wanted)}} if wanted.taints else {}),
    }
    return _yaml([{"machine": machine}])


def documents(wanted: Contribution) -> str:
    """Return the patch of a configuration that Talos 1.14 or newer generated: documents, as YAML text.

    Such a configuration refuses the legacy keys machine.install, nodeLabels and kubelet. No installer is named:
    machines install what they boot, and a patch of UnattendedInstallConfig would drop the disk selector.
    """
    found: list[dict[str, Any]] = [_document("KubeNodeConfig", labels=dict(sorted(wanted.labels.items())))]
    if wanted.taints:
        found.append(_document("KubeletConfig", config=_kubelet(wanted)))
    found += [
        _document("KernelModuleConfig", **_module(name, parameters))
        for name, parameters in sorted(wanted.modules.items())
    ]
    if wanted.sysctls:
        found.append(_document("SysctlConfig", params=dict(sorted(wanted.sysctls.items()))))
    if wanted.sysfs:
        found.append(_document("SysfsConfig", params=dict(sorted(wanted.sysfs.items()))))
    if wanted.runtime:
        name = facts.table("machine")["runtime"]["document"]
        found.append(_document("CRICustomizationConfig", name=name, content=_runtime_toml(wanted.runtime)))
    if wanted.memlock:
        found.append(_document("CRIBaseRuntimeSpecConfig", overrides=_memlock()))
    return _yaml(found)


def _memlock() -> dict[str, Any]:
    """Return the container runtime's overrides: Kubernetes has no field for it (kubernetes/kubernetes#3595)."""
    unlimited = 2**64 - 1
    return {"process": {"rlimits": [{"type": "RLIMIT_MEMLOCK", "hard": unlimited, "soft": unlimited}]}}


def _document(kind: str, **content: Any) -> dict[str, Any]:
    return {"apiVersion": "v1alpha1", "kind": kind, **content}


def _module(name: str, parameters: tuple[str, ...]) -> dict[str, Any]:
    return {"name": name, **({"parameters": list(parameters)} if parameters else {})}


def _kubelet(wanted: Contribution) -> dict[str, Any]:
    """The kubelet registers taints: a worker may not set them on itself later (siderolabs/talos#13443, #10935)."""
    return {"registerWithTaints": list(wanted.taints)}


def _runtime_file(runtime: str) -> dict[str, Any]:
    path = facts.table("machine")["runtime"]["path"]
    return {"op": "create", "path": path, "permissions": 0o644, "content": _runtime_toml(runtime)}


def _runtime_toml(runtime: str) -> str:
    return f'[plugins."io.containerd.cri.v1.runtime".containerd]\n  default_runtime_name = "{runtime}"\n'


def _yaml(found: list[dict[str, Any]]) -> str:
    return "---\n".join(yaml.safe_dump(document, sort_keys=False, width=120) for document in found)
