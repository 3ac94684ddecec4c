"""The machines of an inventory as kwok nodes: hardware in annotations, nothing that an operator would add."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from sandbox.errors import SandboxError
from sandbox.kube import ApiError, Kube, until

if TYPE_CHECKING:
    from pathlib import Path

ANNOTATION = "sandbox.gpu-platform"
OWNER = f"{ANNOTATION}/pool"
OUTSIDE = ("planned", "retired")
CAPACITY = {"cpu": "128", "memory": "2048Gi", "pods": "250", "ephemeral-storage": "1000Gi"}
SYSTEM_NODES = ("system-1", "system-2")


@dataclass(frozen=True)
class Hardware:
    """One machine as it stands in the rack."""

    name: str
    pool: str
    os: str = "talos"
    talos_version: str = ""
    gpu_model: str = ""
    gpu_count: int = 0
    nics: str = ""
    nic_fabric: str = ""


def inventory(stack_file: Path | None) -> list[Hardware]:
    """Return the machines of a stack file that are in the cluster, and two without GPUs for operators to run on."""
    found = [Hardware(name, "system") for name in SYSTEM_NODES]
    if stack_file is None:
        return found
    try:
        config = yaml.safe_load(stack_file.read_text(encoding="utf-8"))["config"]
        pools = config["gpu-platform:inventory"]["pools"].items()
        talos = str(config["gpu-platform:cluster"]["talosVersion"])
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise SandboxError(
            f"{stack_file} has no inventory that can be read ({error}): name a stack file of this project"
        ) from None
    for name, pool in pools:
        found += _pool(name, pool, talos)
    return found


def _pool(name: str, pool: dict[str, Any], talos: str) -> list[Hardware]:
    gpu, nics, nodes = pool.get("gpu") or {}, pool.get("nics") or {}, pool["nodes"]
    named = nodes if isinstance(nodes, dict) else {one: {} for one in nodes}
    return [
        Hardware(
            name=node,
            pool=name,
            os=pool.get("os", "talos"),
            talos_version=(keys or {}).get("talosVersion") or pool.get("talosVersion") or talos,
            gpu_model=gpu.get("model", ""),
            gpu_count=gpu.get("perNode", 8 if gpu else 0),
            nics=nics.get("profile", ""),
            nic_fabric=nics.get("fabric", "infiniband") if nics else "",
        )
        for node, keys in named.items()
        if (keys or {}).get("state", "active") not in OUTSIDE
    ]


def node(machine: Hardware, kubelet: str) -> dict[str, Any]:
    """Return the Node object of a machine that has just joined, `kubelet` its version."""
    release = machine.talos_version or "v0.0.0"
    notes = {
        "kwok.x-k8s.io/node": "fake",
        OWNER: machine.pool,
        f"{ANNOTATION}/os": machine.os,
        **({f"{ANNOTATION}/gpu-model": machine.gpu_model} if machine.gpu_model else {}),
        **({f"{ANNOTATION}/gpu-count": str(machine.gpu_count)} if machine.gpu_count else {}),
        **(
            {f"{ANNOTATION}/nics": machine.nics, f"{ANNOTATION}/nic-fabric": machine.nic_fabric} if machine.nics else {}
        ),
    }
    labels = {"kubernetes.io/hostname": machine.name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    info = {
        "osImage": f"Talos ({release})",
        "kernelVersion": "6.18.44-talos",
        "containerRuntimeVersion": "containerd://2.2.7",
        "kubeletVersion": kubelet,
        "operatingSystem": "linux",
        "architecture": "amd64",
        **dict.fromkeys(("machineID", "systemUUID", "bootID", "kubeProxyVersion"), ""),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": machine.name, "labels": labels, "annotations": notes},
        "status": {"capacity": CAPACITY, "allocatable": CAPACITY, "nodeInfo": info},
    }


def bring(kube: Kube, machines: list[Hardware], kubelet: str) -> None:
    """Make the cluster's nodes those of `machines`, and wait until all are Ready."""
    have = {one["metadata"]["name"]: one["metadata"].get("annotations", {}) for one in kube.items("v1", "nodes")}
    wanted = {machine.name for machine in machines}
    for name, notes in have.items():
        if OWNER in notes and name not in wanted:
            _remove(kube, name)
    for machine in machines:
        if machine.name not in have:
            kube.create(node(machine, kubelet), "nodes")
    until("nodes to be Ready", lambda: _ready(kube, wanted), timeout=30, every=0.05)


def _remove(kube: Kube, name: str) -> None:
    """Delete a node after its pods, for which the garbage collector would take the better part of a minute."""
    for pod in kube.items("v1", "pods", fieldSelector=f"spec.nodeName={name}"):
        meta = pod["metadata"]
        kube.delete("v1", "pods", meta["namespace"], meta["name"], gracePeriodSeconds=0)
    try:
        kube.delete("v1", "nodes", None, name)
    except ApiError as error:
        if error.code != http.client.NOT_FOUND:
            raise


def _ready(kube: Kube, names: set[str]) -> bool:
    ready = {
        one["metadata"]["name"]
        for one in kube.items("v1", "nodes")
        if any(each["type"] == "Ready" and each["status"] == "True" for each in one["status"].get("conditions", []))
        and not any(taint["key"].startswith("node.kubernetes.io/") for taint in one["spec"].get("taints", []))
    }
    return names <= ready
