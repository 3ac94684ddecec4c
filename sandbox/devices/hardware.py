"""What stands in the racks: cards by model, and one machine as its Node object describes it."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

Object = dict[str, Any]

PREFIX = "sandbox.gpu-platform/"
# Set by whoever creates the node: hardware and operating system.
MODEL, COUNT, SYSTEM = PREFIX + "gpu-model", PREFIX + "gpu-count", PREFIX + "os"
# Set by the boot of a machine.
EXTENSIONS, MODULES, RELEASE, FAILURE = (
    PREFIX + key for key in ("extensions", "modules", "os-version", "boot-failure")
)
# Set by the simulator: one sentence for people.
DEVICES = PREFIX + "devices"

NVIDIA, AMD, HABANA = "10de", "1002", "1da3"


@dataclass(frozen=True)
class Card:
    """One accelerator model."""

    model: str
    product: str
    memory: int
    family: str
    pci: dict[str, str]
    source: str
    nvswitch: int = 0
    open: bool = False
    mig: bool = False
    slices: int = 7
    # CUDA compute capability, as a version of three parts.
    compute: str = ""
    # Of AMD cards: compute units, and the memory modes that each compute mode goes with.
    units: int = 0
    modes: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Machine:
    """One node: its hardware, what it booted, and how the cluster marks it."""

    name: str
    labels: dict[str, str]
    taints: tuple[Object, ...]
    system: str
    release: str
    kernel: str
    model: str
    count: int
    extensions: tuple[str, ...]
    modules: tuple[str, ...]
    failure: str
    # Whether the cluster hands out nvidia.com/gpu of this node at this moment.
    handed_out: bool = False
    # The names of all that the cluster hands out of it.
    extended: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)
    uid: str = ""

    @property
    def card(self) -> Card | None:
        """The model of its accelerators; None without any, or where the table does not know the model."""
        return cards().get(self.model)


@cache
def cards() -> dict[str, Card]:
    """Return every model of hardware.toml by name."""
    rows = tomllib.loads(Path(__file__).with_name("hardware.toml").read_text(encoding="utf-8"))
    return {model: Card(model=model, **row) for model, row in rows.items()}


def machine(node: Object) -> Machine:
    """Return the machine behind a Node object."""
    metadata = node["metadata"]
    notes = metadata.get("annotations") or {}
    status = node.get("status") or {}
    return Machine(
        name=metadata["name"],
        labels=metadata.get("labels") or {},
        taints=tuple((node.get("spec") or {}).get("taints") or ()),
        system=notes.get(SYSTEM, ""),
        release=notes.get(RELEASE, ""),
        kernel=(status.get("nodeInfo") or {}).get("kernelVersion", ""),
        model=notes.get(MODEL, ""),
        count=int(notes.get(COUNT) or 0),
        extensions=tuple(json.loads(notes.get(EXTENSIONS) or "[]")),
        modules=tuple(json.loads(notes.get(MODULES) or "[]")),
        failure=notes.get(FAILURE, ""),
        handed_out="nvidia.com/gpu" in (status.get("allocatable") or {}),
        extended=tuple(status.get("allocatable") or ()),
        notes=notes,
        uid=metadata.get("uid", ""),
    )
