"""Stack files of any size, always the same for the same size."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

# How many nodes share a rack, and how many a leaf switch.
RACK, LEAF = 8, 32


def document(*, pools: int, nodes: int, plain: bool = False) -> dict[str, Any]:
    """Return an environment of `nodes` nodes in all with 8 GPUs each; `plain` lists their names without places."""
    each = nodes // pools
    return {
        "cluster": {"name": "bench", "talosVersion": "v1.13.9"},
        "inventory": {"pools": {f"pool-{pool:02}": _pool(pool, each, plain=plain) for pool in range(pools)}},
    }


def _pool(pool: int, nodes: int, *, plain: bool) -> dict[str, Any]:
    places = {
        f"gpu-{pool:02}-{node:04}": {
            "rack": f"r{pool:02}-{node // RACK:03}",
            "leaf": f"l{pool:02}-{node // LEAF:03}",
        }
        for node in range(nodes)
    }
    return {"gpu": {"model": "h100-sxm-80gb", "perNode": 8}, "nodes": list(places) if plain else places}


def write_stack_file(path: Path, keys: dict[str, Any]) -> None:
    """Write a document as a stack file."""
    config = {f"gpu-platform:{key}": value for key, value in keys.items()}
    path.write_text(yaml.safe_dump({"config": config}, sort_keys=False), encoding="utf-8")


def write_configuration(path: Path, namespace: str, keys: dict[str, Any]) -> None:
    """Write keys as the engine hands them to a program: a mapping of full name to text."""
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in keys.items()}
    path.write_text(json.dumps({f"{namespace}:{key}": text for key, text in texts.items()}), encoding="utf-8")
