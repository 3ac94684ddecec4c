"""The DCGM exporter's counters: what is published, as the list that replaces its own."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import did_you_mean, finding
from gpu_platform.planning import inventory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings

KEY, FILE = "dcgm-counters", "dcgm-metrics.csv"


def published(settings: Settings) -> tuple[str, ...]:
    """Return the names of all counters that are published, in the order of the facts.

    Those on by default, those that alerts read, and what the stack file adds, without what it leaves out.
    """
    section = settings.gpu.dcgm if settings.gpu else None
    more, less = (section.counters, section.without) if section else ((), ())
    rows = facts.table("dcgm").items()
    return tuple(name for name, row in rows if (row["set"] != "known" or name in more) and name not in less)


def csv(settings: Settings) -> str:
    """Return the list as the exporter reads it: field, type, help; with one unknown field it does not start."""
    rows = facts.table("dcgm")
    return "".join(f"{name}, {rows[name]['type']}, {rows[name]['help']}\n" for name in published(settings))


def config_map_name(settings: Settings) -> str:
    """Return the ConfigMap's name: it is mounted by a sub-path, so that other content needs another name."""
    return f"{KEY}-{hashlib.sha256(csv(settings).encode()).hexdigest()[:8]}"


def config_maps(settings: Settings) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield key, name and data of the ConfigMap with the list."""
    yield KEY, config_map_name(settings), {FILE: csv(settings)}


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield counters that the exporter does not know, and those that alerts would miss."""
    if settings.gpu is None or not inventory.nvidia_pools(settings):
        return
    known = facts.table("dcgm")
    for key, names in (("counters", settings.gpu.dcgm.counters), ("without", settings.gpu.dcgm.without)):
        for number, name in enumerate(names):
            path = f"gpu.dcgm.{key}[{number}]"
            if name not in known:
                message = f"the DCGM exporter has no counter {name!r}, and would not start"
                yield finding("GPU-013", path, message, did_you_mean(name, known, otherwise="see facts/dcgm.toml"))
            elif key == "without" and known[name]["set"] == "needed":
                message = f"alerts read {name}: without it they never fire, and nobody is told"
                yield finding("GPU-014", path, message, "keep it")
