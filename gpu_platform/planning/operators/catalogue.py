"""What the catalogue says of an operator, and what a stack file says instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts

if TYPE_CHECKING:
    from gpu_platform.settings.operators import Operator


def catalogued(name: str) -> dict[str, Any]:
    """Return the catalogue's row of an operator."""
    return dict(facts.table("catalog")["operator"][name])


def namespace(name: str, operator: Operator) -> str:
    """Return the namespace of an operator."""
    return operator.namespace or str(catalogued(name)["namespace"])


def version(name: str, operator: Operator | None) -> str:
    """Return the chart's version; charts differ in whether theirs begin with v, as the catalogue's row tells."""
    default = str(catalogued(name)["version"])
    if operator is None or operator.version is None:
        return default
    return operator.version if default.startswith("v") else operator.version.removeprefix("v")
