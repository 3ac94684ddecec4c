"""What a mode asks of machines, and settings that it does not read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.fabric.groups import groups, pools
from gpu_platform.planning.fabric.modes import mode, network, row
from gpu_platform.planning.fabric.networks import ON_INTERFACES
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings


def mode_findings(settings: Settings) -> Iterator[Finding]:
    """Yield machines that are too old for the mode or told otherwise, and settings without effect."""
    yield from _releases(settings)
    yield from _namespaces(settings)
    yield from _unread(settings)
    if mode(settings) == "dra" and groups(settings)[0].fabric == "ethernet":
        message = "claimed ports keep the addresses that their machines give them, and this stack gives none"
        fix = "give each port an address in the machines' configuration, or write mode: host-device"
        yield finding("RDMA-026", "fabric.mode", message, fix)


def _releases(settings: Settings) -> Iterator[Finding]:
    floor = row(settings)["talos"]
    for name, pool in pools(settings).items():
        old = [
            (node_name, version)
            for node_name, node in pool.nodes.items()
            if (version := inventory.talos_version(settings, pool, node)) and minor(version) < minor(f"{floor}.0")
        ]
        if old:
            node_name, version = old[0]
            others = f" and {len(old) - 1} more" if len(old) > 1 else ""
            message = f"mode {mode(settings)} needs Talos {floor}, and {node_name}{others} will have {version}"
            fix = f"write talosVersion: v{floor}.0 or newer, or another mode"
            yield finding("RDMA-025", f"inventory.pools.{name}", message, fix)


def _namespaces(settings: Settings) -> Iterator[Finding]:
    """Yield kernel arguments that take the devices away from plugins which share them."""
    known = facts.table("fabric")["netns"]
    argument = f"{known['argument']}={known['exclusive']}"
    if row(settings)["netns"] != "shared":
        return
    stated = [("image", settings.image)] if settings.image else []
    every = [*stated, *((f"inventory.pools.{name}.image", pool.image) for name, pool in pools(settings).items())]
    for path, image in every:
        if argument in image.kernel_args:
            message = f"mode {mode(settings)} shares devices, and its plugin ends where {argument} gives them away"
            yield finding("RDMA-023", f"{path}.kernelArgs", message, f"take {argument} out, or write mode: host-device")


def _unread(settings: Settings) -> Iterator[Finding]:
    fabric, kind = settings.fabric, network(settings)
    assert fabric is not None  # noqa: S101 - rules.findings has looked
    reads = {
        "vfs": bool(row(settings)["vfs"]),
        "ufm": bool(row(settings)["vfs"]),
        "sriov_daemon_image": row(settings)["vfs"] == "operator",
        "shares": row(settings)["plugin"] == "rdmaSharedDevicePlugin",
        "ipam": bool(kind),
        "mtu": kind in ON_INTERFACES or row(settings)["vfs"] == "operator",
    }
    for field in sorted(fabric.model_fields_set):
        if not reads.get(field, True):
            key = type(fabric).model_fields[field].alias or field
            message = f"mode {mode(settings)} does not read {key}"
            yield finding("RDMA-027", f"fabric.{key}", message, "leave it out, or write the mode that it is for")
