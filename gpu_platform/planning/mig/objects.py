"""What the cluster gets of the layouts: the library as a ConfigMap, a label on each node, the operator's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.mig.library import KEY, WHOLE, config_map_name, document, library
from gpu_platform.planning.mig.nodes import REQUEST, config, strategy
from gpu_platform.planning.model import MigPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.root import Settings

LIBRARY = "mig-layouts"


def plan_mig(settings: Settings) -> MigPlan:
    """Return how cards are cut in this environment."""
    layouts = library(settings)
    return MigPlan(strategy(settings), config_map_name(layouts) if layouts else "", layouts)


def config_maps(settings: Settings) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield key, name and data of the ConfigMap with the whole library, so that shipping it cuts nothing."""
    if layouts := library(settings):
        yield LIBRARY, config_map_name(layouts), {KEY: document(layouts)}


def node_labels(settings: Settings, pool: Pool, node: Node) -> dict[str, str]:
    """Return the label by which a node asks for its layout; {} where its cards stay whole."""
    wanted = config(settings, pool, node)
    return {REQUEST: wanted} if wanted else {}


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
