"""Intel Gaudi on nodes that do not run Talos: its operator, or its DRA driver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(_settings: Settings) -> dict[str, Any]:
    """Return the Helm values of the operator."""
    return {}


def dra_values(_settings: Settings) -> dict[str, Any]:
    """Return the Helm values of the DRA driver."""
    return {}
