"""The machine-config patch of a class, merged from typed contributions, in the form that its Talos release reads."""

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
    """What one part needs of the machine: kernel modules (name to parameters), sysctls, labels, taints, runtime."""

    owner: str
    modules: dict[str, tuple[str, ...]] = field(default_factory=dict)
    sysctls: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    taints: tuple[dict[str, str], ...] = ()
    runtime: str | None = None


@dataclass(frozen=True)
class Conflict:
    """Two contributions that want different values of one setting."""

    setting: str
    owners: tuple[str, str]
    values: tuple[str, str]


def merge(contributions: Iterable[Contribution]) -> tuple[Contribution, tuple[Conflict, ...]]:
    """Return all contributions as one, and the settings on which two of them disagree (the first one stands)."""
    conflicts: list[Conflict] = []
    merged: dict[str, dict[str, Any]] = {"modules": {}, "sysctls": {}, "labels": {}}
    owners: dict[tuple[str, str], str] = {}
    taints: list[dict[str, str]] = []
    runtime: str | None = None
    for one in contributions:
        for kind, values in (("modules", one.modules), ("sysctls", one.sysctls), ("labels", one.labels)):
            for key, value in values.items():
                owner = owners.setdefault((kind, key), one.owner)
                kept = merged[kind].setdefault(key, value)
                if kept != value:
                    conflicts.append(Conflict(f"{kind}.{key}", (owner, one.owner), (str(kept), str(value))))
        taints += [taint for taint in one.taints if taint not in taints]
        runtime = runtime or one.runtime
    everything = Contribution("all", **merged, taints=tuple(taints), runtime=runtime)
    return everything, tuple(conflicts)


def patch(talos: str, installer: str, wanted: Contribution, *, kernel_args: bool) -> str:
    """Return the patch as YAML text: one document up to Talos 1.13, further ones from 1.14 on.

    `kernel_args` tells that the image carries kernel arguments, which GRUB nodes read only when told to.
    """
    rows = facts.table("machine")
    install: dict[str, Any] = {"image": installer}
    if kernel_args and minor(talos) >= minor(rows["uki_cmdline_on_grub"]["talos"] + ".0"):
        install["grubUseUKICmdline"] = True
    machine: dict[str, Any] = {"install": install}
    documents: list[dict[str, Any]] = [{"machine": machine}]
    if minor(talos) >= minor(rows["documents"]["talos"] + ".0"):
        documents += _documents(wanted)
    else:
        machine |= _legacy(wanted)
    machine["nodeLabels"] = dict(sorted(wanted.labels.items()))
    if wanted.taints:
        # The kubelet registers them: a worker may not set taints on itself later (siderolabs/talos#13443, #10935).
        machine["kubelet"] = {"extraConfig": {"registerWithTaints": list(wanted.taints)}}
    return "---\n".join(yaml.safe_dump(document, sort_keys=False, width=120) for document in documents)


def _legacy(wanted: Contribution) -> dict[str, Any]:
    modules = [
        {"name": name, **({"parameters": list(parameters)} if parameters else {})}
        for name, parameters in sorted(wanted.modules.items())
    ]
    return {
        **({"kernel": {"modules": modules}} if modules else {}),
        **({"sysctls": dict(sorted(wanted.sysctls.items()))} if wanted.sysctls else {}),
        **({"files": [_runtime_file(wanted.runtime)]} if wanted.runtime else {}),
    }


def _runtime_file(runtime: str) -> dict[str, Any]:
    path = facts.table("machine")["runtime"]["path"]
    return {"op": "create", "path": path, "permissions": 0o644, "content": _runtime_toml(runtime)}


def _runtime_toml(runtime: str) -> str:
    return f'[plugins."io.containerd.cri.v1.runtime".containerd]\n  default_runtime_name = "{runtime}"\n'


def _documents(wanted: Contribution) -> list[dict[str, Any]]:
    head = {"apiVersion": "v1alpha1"}
    documents: list[dict[str, Any]] = [
        {**head, "kind": "KernelModuleConfig", "name": name, **({"parameters": list(parameters)} if parameters else {})}
        for name, parameters in sorted(wanted.modules.items())
    ]
    if wanted.sysctls:
        documents.append({**head, "kind": "SysctlConfig", "params": dict(sorted(wanted.sysctls.items()))})
    if wanted.runtime:
        name = facts.table("machine")["runtime"]["document"]
        documents.append(
            {**head, "kind": "CRICustomizationConfig", "name": name, "content": _runtime_toml(wanted.runtime)}
        )
    return documents
