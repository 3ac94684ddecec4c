"""What the cluster gets of the layouts: the library as a ConfigMap, a label on each node, and the operator's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.planning.mig.library import KEY, WHOLE, config_map_name, document, library
from gpu_platform.planning.mig.nodes import REQUEST, config, strategy
from gpu_platform.planning.model import Manifest, MigPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.root import Settings

LIBRARY = "mig-layouts"


def plan_mig(settings: Settings) -> MigPlan:
    """Return how cards are cut in this environment."""
    layouts = library(settings)
    return MigPlan(strategy(settings), config_map_name(layouts) if layouts else "", layouts)


def config_map(settings: Settings, namespace: str, after: tuple[str, ...]) -> tuple[Manifest, ...]:
    """Return the ConfigMap with the whole library, so that shipping it cuts nothing; none without layouts."""
    layouts = library(settings)
    if not layouts:
        return ()
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": config_map_name(layouts), "namespace": namespace},
        "data": {KEY: document(layouts)},
    }
    return (Manifest(LIBRARY, body, after),)


def node_patches(settings: Settings, after: tuple[str, ...]) -> Iterator[Manifest]:
    """Yield the label of each active node that asks for a layout.

    Others get none: a patch of a node that has not joined creates a Node object that outlives a destroy (measured).
    """
    for pool in inventory.nvidia_pools(settings).values():
        for name, node in pool.nodes.items():
            wanted = config(settings, pool, node)
            if wanted and node.state == "active":
                notes = {"pulumi.com/patchForce": "true", "pulumi.com/patchFieldManager": "gpu-platform-mig"}
                metadata = {"name": name, "labels": {REQUEST: wanted}, "annotations": notes}
                body = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
                yield Manifest(f"mig-{name}", body, after, patch=True)


def values(settings: Settings) -> dict[str, Any]:
    """Return the operator's values: a MIG manager that works on Talos, or none where nothing is cut."""
    layouts = library(settings)
    if not layouts:
        # Its managers hang on Talos (NVIDIA/mig-parted#356), and without layouts there is nothing to apply.
        return {"migManager": {"enabled": False}}
    row = facts.table("catalog")["image"]["mig-manager"]
    return {
        "mig": {"strategy": strategy(settings)},
        "migManager": {
            "enabled": True,
            "version": row["version"],
            "env": [{"name": "NVIDIA_CDI_HOOK_PATH", "value": row["cdi_hook"]}],
            "config": {"name": config_map_name(layouts), "default": WHOLE},
        },
    }
