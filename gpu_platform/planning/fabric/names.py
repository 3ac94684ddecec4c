"""Names of networks, resources and pools of addresses, within the rules of everybody who reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning.fabric.groups import rails
from gpu_platform.planning.fabric.modes import row

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings

# The longest of what follows a base: "-rail-" and two digits.
SUFFIX = len("-rail-00")
# A network is a DNS label; the device plugin's socket, whose path has 107 bytes, is named after prefix and resource.
LONGEST_LABEL, LONGEST_RESOURCE = 63, 57


def base(settings: Settings) -> str:
    """Return the name from which all others are made."""
    return settings.fabric.name if settings.fabric else ""


def network(settings: Settings, rail: int) -> str:
    """Return the name of a rail's network; the only rail keeps the bare name."""
    return base(settings) if rails(settings) == 1 else f"{base(settings)}-rail-{rail}"


def bare_resource(settings: Settings, rail: int) -> str:
    """Return the resource of a rail without its prefix: device plugins allow no hyphen."""
    name = base(settings).replace("-", "_")
    return name if rails(settings) == 1 or not row(settings)["per_rail"] else f"{name}_rail_{rail}"


def resource(settings: Settings, rail: int) -> str | None:
    """Return the extended resource of a rail; None where rails are claimed."""
    prefix = row(settings)["prefix"]
    return f"{prefix}/{bare_resource(settings, rail)}" if prefix else None
