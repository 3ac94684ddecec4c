"""The NVIDIA network operator: its chart brings the operator alone, the policy says what it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(_settings: Settings) -> dict[str, Any]:
    """Return the Helm values: feature discovery is elsewhere, and its rules for NICs are kept (#1212)."""
    return {"nfd": {"enabled": False, "deployNodeFeatureRules": True}, "upgradeCRDs": True}
