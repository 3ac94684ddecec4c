"""The library of layouts: what the MIG manager reads, and the name by which nodes ask for each."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import yaml

from gpu_platform.planning.model import MigLayout

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpu_platform.settings.root import Settings

ALL = "all"
# What the MIG manager applies to nodes that ask for nothing; a library of one's own has to hold it.
WHOLE = "all-disabled"
KEY = "config.yaml"
_DIGITS = 8


def library(settings: Settings) -> tuple[MigLayout, ...]:
    """Return every layout of the stack file under its configuration name; names change with the content alone."""
    stated = settings.gpu.mig.layouts if settings.gpu else {}
    return tuple(MigLayout(name, config_name(name, layout), tuple(layout.items())) for name, layout in stated.items())


def config_name(name: str, layout: dict[str, tuple[str, ...]]) -> str:
    """Return the name of a layout for the MIG manager: its own, and a digest of its content.

    A name never changes its meaning: an edited layout is another one, and nodes take it up when their label moves.
    """
    return f"{name}-{_digest(entries(layout.items()))}"


def entries(groups: Iterable[tuple[str, tuple[str, ...]]]) -> list[dict[str, Any]]:
    """Return a layout as mig-parted reads it: one entry for each group of GPUs, whole ones with MIG off."""
    return [
        {
            "devices": ALL if numbers == ALL else indices(numbers),
            "mig-enabled": bool(profiles),
            "mig-devices": {name: profiles.count(name) for name in dict.fromkeys(profiles)},
        }
        for numbers, profiles in groups
    ]


def indices(numbers: str) -> list[int]:
    """Return the GPU numbers of a key such as 0-3,6."""
    found: list[int] = []
    for part in numbers.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def document(layouts: tuple[MigLayout, ...]) -> str:
    """Return the MIG manager's configuration: cards left whole, and the whole library."""
    whole = [{"devices": ALL, "mig-enabled": False, "mig-devices": {}}]
    configs = {WHOLE: whole, **{one.config: entries(one.groups) for one in layouts}}
    return yaml.safe_dump({"version": "v1", "mig-configs": configs}, sort_keys=False, width=120)


def config_map_name(layouts: tuple[MigLayout, ...]) -> str:
    """Return the ConfigMap's name: the manager does not watch it, so that other content is another ConfigMap."""
    return f"mig-layouts-{_digest(document(layouts))}"


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_DIGITS]
