"""Tolerations of what runs on GPU nodes: they follow from the pools' taints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gpu_platform.settings.inventory import Pool


def tolerations(pools: Iterable[Pool], *defaults: dict[str, str]) -> list[dict[str, str]]:
    """Return the defaults, which a list of ours would replace, and one for every taint that they do not cover."""
    found = list(defaults)
    for pool in pools:
        for taint in pool.taints:
            match = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
            one = {"key": taint.key, **match, "effect": taint.effect}
            covered = any(
                each["key"] == taint.key and each["effect"] == taint.effect and each["operator"] == "Exists"
                for each in found
            )
            if not covered and one not in found:
                found.append(one)
    return found
