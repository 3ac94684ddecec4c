"""The releases that another component than GpuOperator installs, with their namespaces and in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning.operators import catalogue, releases
from gpu_platform.planning.operators.kinds import KINDS, wanted

if TYPE_CHECKING:
    from gpu_platform.planning.model import Manifest, Release
    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

KUBERNETES = ("kube-system", "kube-public", "kube-node-lease")


def operators(settings: Settings, part: str) -> dict[str, Operator]:
    """Return the operators of a component by name."""
    return {name: one for name, one in wanted(settings).items() if KINDS[name].part == part}


def owners(settings: Settings) -> dict[str, str]:
    """Return who owns each namespace that is nobody's to run jobs in: operators, and Kubernetes itself."""
    found = {catalogue.namespace(name, one): f"operator {name}" for name, one in wanted(settings).items()}
    return found | dict.fromkeys(KUBERNETES, "Kubernetes")


def installed(settings: Settings, part: str) -> tuple[str, ...]:
    """Return the keys of what this stack installs for a component: what its objects come after."""
    return tuple(name for name, one in operators(settings, part).items() if one.manage == "install")


def namespace_keys(name: str, operator: Operator) -> tuple[str, ...]:
    """Return the key of an operator's namespace where this stack makes it."""
    owned = operator.manage == "install" and operator.manage_namespace == "install"
    return (releases.namespace_key(catalogue.namespace(name, operator)),) if owned else ()


def installation(settings: Settings, part: str, namespaces: tuple[str, ...] = ()) -> list[Manifest | Release]:
    """Return namespaces, further ones among them, then releases, each after what it needs."""
    those, retain = operators(settings, part), not releases.disposable(settings)
    owned = (catalogue.namespace(name, one) for name, one in those.items() if namespace_keys(name, one))
    found: list[Manifest | Release] = [
        releases.namespace_manifest(space, retain=retain) for space in dict.fromkeys((*owned, *namespaces))
    ]
    for name, operator in those.items():
        if operator.manage == "install":
            before = [one for one in KINDS[name].after if wanted(settings)[one].manage == "install"]
            after = (*namespace_keys(name, operator), *before)
            found.append(releases.release(name, operator, settings, after=after))
    return found
