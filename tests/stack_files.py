"""Stack files that tests start from."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from gpu_platform.planning import plan
from gpu_platform.planning.model import Plan, Planned
from gpu_platform.settings.document import load

PROJECT = Path(__file__).resolve().parent.parent
FIXTURES = Path(__file__).resolve().parent / "fixtures"

THREE_LINES: dict[str, Any] = {
    "cluster": {"name": "lab", "talosVersion": "v1.13.9"},
    "inventory": {"pools": {"h100": {"gpu": {"model": "h100-sxm-80gb"}, "nodes": ["gpu-01", "gpu-02"]}}},
}


def document(**sections: Any) -> dict[str, Any]:
    """Return the three-line document with whole sections replaced or added."""
    return {**copy.deepcopy(THREE_LINES), **sections}


def pool(**keys: Any) -> dict[str, Any]:
    """Return an inventory with one H100 pool of one node and further keys of that pool."""
    return {"pools": {"h100": {"gpu": {"model": "h100-sxm-80gb"}, "nodes": ["gpu-01"], **keys}}}


def planned_file(path: Path) -> Planned:
    """Plan a stack file as `check` does."""
    read = load(path)
    return Planned(None, read.findings) if read.findings else plan(read.keys)


def good(keys: dict[str, Any]) -> Plan:
    """Return the plan of a document that has no errors."""
    result = plan(keys)
    assert result.plan is not None, [str(one) for one in result.findings]
    return result.plan
