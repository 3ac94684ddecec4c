"""What runs in a sandbox, and what its nodes are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import psutil
from rich.console import Console
from rich.table import Table

from sandbox.kube import ApiError, Kube
from sandbox.nodes import ANNOTATION, OWNER

if TYPE_CHECKING:
    from sandbox.state import State

VENDORS = ("nvidia.com/", "amd.com/", "habana.ai/")


def processes(state: State) -> list[dict[str, Any]]:
    """Return name, pid, whether it runs, and resident memory in MiB of every process."""
    rows = []
    for name, process in state.processes.items():
        runs = state.runs(name)
        memory = psutil.Process(process.pid).memory_info().rss // 2**20 if runs else 0
        rows.append({"name": name, "pid": process.pid, "runs": runs, "mebibytes": memory})
    return rows


def nodes(state: State) -> list[dict[str, Any]]:
    """Return name, pool, GPU model, what is handed out, schematic and the simulator's reason of every node."""
    try:
        items = Kube.of(state).items("v1", "nodes")
    except (OSError, ApiError):
        return []
    rows = []
    for node in items:
        notes = node["metadata"].get("annotations", {})
        rows.append(
            {
                "name": node["metadata"]["name"],
                "pool": notes.get(OWNER, ""),
                "model": notes.get(f"{ANNOTATION}/gpu-model", ""),
                "handedOut": handed_out(node),
                "schematic": notes.get("extensions.talos.dev/schematic", ""),
                "devices": notes.get(f"{ANNOTATION}/devices", ""),
            }
        )
    return rows


def handed_out(node: dict[str, Any]) -> dict[str, int]:
    """Return the vendors' extended resources of a node, without those of which none is left."""
    allocatable = node["status"].get("allocatable", {})
    return {key: int(count) for key, count in allocatable.items() if key.startswith(VENDORS) and int(count)}


def as_text(resources: dict[str, int]) -> str:
    """Return resources as people read them."""
    return ", ".join(f"{count} {name}" for name, count in resources.items()) or "none"


def show(state: State) -> None:
    """Print both as tables."""
    piped = not sys.stdout.isatty()
    console = Console(highlight=False, soft_wrap=piped, width=200 if piped else None)
    table = Table("process", "pid", "", "MiB", box=None, padding=(0, 2, 0, 0))
    for row in processes(state):
        said = "up" if row["runs"] else "[red]DOWN[/]: `python -m sandbox up` starts it again"
        table.add_row(row["name"], str(row["pid"]), said, str(row["mebibytes"]))
    console.print(table)
    console.print()
    table = Table("node", "pool", "model", "hands out", "schematic", "devices", box=None, padding=(0, 2, 0, 0))
    for row in nodes(state):
        table.add_row(
            row["name"], row["pool"], row["model"], as_text(row["handedOut"]), row["schematic"][:12], row["devices"]
        )
    console.print(table)
