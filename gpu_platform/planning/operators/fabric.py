"""Operators of the fabric: the network operator, whose policy says what it runs, whereabouts, and dranet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.fabric import virtual
from gpu_platform.planning.fabric.groups import groups
from gpu_platform.planning.labels import FABRIC

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values: feature discovery is elsewhere, and its rules for NICs are kept (#1212)."""
    ours = {"nfd": {"enabled": False, "deployNodeFeatureRules": True}, "upgradeCRDs": True}
    return {**ours, **virtual.operator_values(settings)}


def _placed(settings: Settings) -> dict[str, Any]:
    """Return where DaemonSets run: on every node of the fabric, whatever its taints."""
    return {"nodeSelector": {FABRIC: groups(settings)[0].fabric}, "tolerations": [{"operator": "Exists"}]}


def whereabouts_values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values of whereabouts: its chart names an image years older than itself."""
    row = facts.table("catalog")["operator"]["whereabouts"]
    stated = settings.operators.whereabouts.namespace if settings.operators else None
    placed = _placed(settings)
    placed["nodeSelector"] = {"kubernetes.io/os": "linux", **placed["nodeSelector"]}
    return {"image": {"tag": row["image"]}, "namespaceOverride": stated or row["namespace"], **placed}


def dranet_values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values of dranet."""
    return _placed(settings)
