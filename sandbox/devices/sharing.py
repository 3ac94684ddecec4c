"""The device plugin's configurations: which one a node gets, and what it makes of the node's resources."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object

LABEL = "nvidia.com/device-plugin.config"
WHOLE, SLICE = "nvidia.com/gpu", "nvidia.com/mig-"


class PluginError(Exception):
    """One sentence: why the device plugin does not start, and hands out nothing."""


@dataclass(frozen=True)
class Shared:
    """A node's resources after sharing, and the labels that tell of it."""

    resources: dict[str, str]
    labels: dict[str, str] = field(default_factory=dict)
    sentence: str = ""
    # Whether the same name stands for less than it used to: then the product is called -SHARED.
    suffix: bool = False


def share(
    data: dict[str, str] | None,
    named: Object,
    labels: dict[str, str],
    strategy: str,
    resources: dict[str, str],
    *,
    sliced: bool = False,
) -> Shared:
    """Return what becomes of `resources`; `named` is the policy's name and default, `data` the ConfigMap's content.

    Raises PluginError where the plugin does not start.
    """
    if not named.get("name"):
        return Shared(resources)
    if data is None:
        raise PluginError(f"there is no ConfigMap {named['name']}")
    config = _config(data, named.get("default") or "", labels.get(LABEL))
    mode, sharing = _mode(config)
    if not sharing:
        return Shared(resources)
    if mode == "mps" and strategy == "mixed":
        raise PluginError("MPS is not supported with MIG strategy mixed")
    if mode == "mps" and sliced:
        raise PluginError("MPS is not supported on MIG devices")
    return _apply(mode, sharing, resources)


def _config(data: dict[str, str], default: str, asked: str | None) -> Object:
    """Return the configuration that the config manager links: the label's, the default, the only one, or none."""
    key = asked or default or (next(iter(data)) if len(data) == 1 else "")
    if not key:
        return {}
    if key not in data:
        raise PluginError(f"its configuration has no {key}")
    try:
        found = yaml.safe_load(data[key])
    except yaml.YAMLError:
        found = None
    if not isinstance(found, dict) or found.get("version") != "v1":
        raise PluginError(f"its configuration {key} is not one of version v1")
    return found


def _mode(config: Object) -> tuple[str, Object]:
    """Return how resources are shared; where both ways stand, MPS wins. What is not known is not read."""
    sharing = config.get("sharing") or {}
    return next(((mode, sharing[mode]) for mode in ("mps", "timeSlicing") if sharing.get(mode)), ("", {}))


def _apply(mode: str, sharing: Object, resources: dict[str, str]) -> Shared:
    replicas = {one["name"]: _replicas(one) for one in sharing.get("resources") or ()}
    allowed = (WHOLE,) if mode == "mps" else (WHOLE, SLICE)
    found: dict[str, str] = {}
    most = 1
    for name, count in resources.items():
        times = replicas.get(name, 1) if name.startswith(allowed) else 1
        most = max(most, times)
        renamed = f"{name}.shared" if sharing.get("renameByDefault") and times > 1 else name
        found[renamed] = str(int(count) * times)
    if most == 1:
        return Shared(found)
    strategy = "mps" if mode == "mps" else "time-slicing"
    labels = {"nvidia.com/gpu.replicas": str(most), "nvidia.com/gpu.sharing-strategy": strategy}
    labels |= {"nvidia.com/mps.capable": "true"} if mode == "mps" else {}
    return Shared(found, labels, f"shared by {strategy}", suffix=not sharing.get("renameByDefault"))


def _replicas(one: dict[str, Any]) -> int:
    count = one.get("replicas")
    if not isinstance(count, int) or count < 2:
        raise PluginError(f"number of replicas of {one.get('name')} must be >= 2")
    return count
