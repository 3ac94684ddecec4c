"""The device plugin's configurations: one for each way of sharing, and the one of nodes that share nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

from gpu_platform.planning import inventory
from gpu_platform.planning.mig import nodes

if TYPE_CHECKING:
    from gpu_platform.settings.gpu import Sharing
    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

# What nodes without a label get: several configurations and no default would mean none for all.
WHOLE = "whole"
REQUEST = "nvidia.com/device-plugin.config"
PREFIX, RENAMED = "nvidia.com/", ".shared"
_DIGITS = 8


@dataclass(frozen=True)
class Config:
    """One configuration: its name in the stack file, its key in the ConfigMap, its text."""

    name: str
    key: str
    text: str


def ways(settings: Settings) -> dict[str, Sharing]:
    """Return the ways of sharing by name."""
    return settings.gpu.sharing if settings.gpu else {}


def chosen(pool: Pool, node: Node) -> str | None:
    """Return the way of a node: its own choice, else its pool's, None for cards that are handed out once."""
    choice = node.sharing or pool.sharing
    return choice.config if choice else None


def configs(settings: Settings) -> tuple[Config, ...]:
    """Return every configuration that a node may ask for: each way for whole cards, and for the slices of its nodes."""
    found: dict[tuple[str, tuple[str, ...]], None] = {(name, ()): None for name in ways(settings)}
    for pool in inventory.nvidia_pools(settings).values():
        for node in pool.nodes.values():
            if (name := chosen(pool, node)) in ways(settings):
                found[name, slices(settings, pool, node)] = None
    made = (_config(settings, name, cut) for name, cut in found)
    return tuple({one.key: one for one in made}.values())


def config(settings: Settings, pool: Pool, node: Node) -> Config | None:
    """Return the configuration of a node; None where its cards are handed out once."""
    name = chosen(pool, node)
    return _config(settings, name, slices(settings, pool, node)) if name in ways(settings) else None


def _config(settings: Settings, name: str, cut: tuple[str, ...]) -> Config:
    """Return a way for nodes with these slices; its key is its name and a digest of what the device plugin reads."""
    one = ways(settings)[name]
    sharing = {
        "renameByDefault": one.rename,
        "failRequestsGreaterThanOne": one.fail_requests_greater_than_one,
        "resources": [{"name": resource(short), "replicas": count} for short, count in replicas(one, cut).items()],
    }
    text = as_yaml({"version": "v1", "sharing": {one.mode: sharing}})
    return Config(name, f"{name}-{_digest(text)}", text)


def replicas(one: Sharing, cut: tuple[str, ...]) -> dict[str, int]:
    """Return how often each resource is shared, by short name, on nodes with these slices."""
    if one.replicas is None:
        return dict(one.resources)
    return dict.fromkeys(("gpu", *(cut if one.mode == "timeSlicing" else ())), one.replicas)


def slices(settings: Settings, pool: Pool, node: Node) -> tuple[str, ...]:
    """Return the short names of a node's slices under strategy mixed; under single they are called gpu."""
    names = (short(name) for name in nodes.unshared(settings, pool, node))
    return tuple(name for name in names if name != "gpu")


def short(name: str) -> str:
    """Return the short name of an extended resource."""
    return name.removeprefix(PREFIX)


def resource(name: str) -> str:
    """Return the extended resource of a short name; a plus sign may not stand in one."""
    return PREFIX + name.replace("+", ".")


def data(settings: Settings) -> dict[str, str]:
    """Return the ConfigMap's data: every way by its key, and the configuration without any."""
    return {WHOLE: as_yaml({"version": "v1"}), **{one.key: one.text for one in configs(settings)}}


def config_map_name(settings: Settings) -> str:
    """Return the ConfigMap's name: the device plugin does not watch it (NVIDIA/gpu-operator#412)."""
    return f"device-plugin-configs-{_digest(data(settings))}"


def as_yaml(content: Any) -> str:
    """Return YAML text with keys in their own order."""
    return yaml.safe_dump(content, sort_keys=False, width=120)


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:_DIGITS]
