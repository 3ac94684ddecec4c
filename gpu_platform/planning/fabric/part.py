"""What the component registers: operators, their policy, addresses, networks, claims, and namespaces when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.fabric import addresses, claims, networks, policy, virtual
from gpu_platform.planning.fabric.groups import groups
from gpu_platform.planning.fabric.modes import present
from gpu_platform.planning.model import Manifest, Part, Release
from gpu_platform.planning.operators import releases
from gpu_platform.planning.operators.kinds import KINDS, wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

OPERATOR = "network-operator"
POLICY = "nic-cluster-policy"


def plan_part(settings: Settings) -> Part:
    """Return everything that this stack installs for the fabric; nothing without pools on it."""
    if not present(settings) or settings.operators is None:
        return Part()
    operators = {name: one for name, one in wanted(settings).items() if KINDS[name].elsewhere}
    items: list[Manifest | Release] = [*_own_namespaces(settings, operators)]
    for name, operator in operators.items():
        if operator.manage == "install":
            items.append(releases.release(name, operator, settings, after=_before(name, operator, settings)))
    installed = tuple(name for name, one in operators.items() if one.manage == "install")
    if OPERATOR in operators:
        items += _of_network_operator(settings, operators[OPERATOR], installed)
    items += [_attached(body, installed, settings, "network") for body in networks.attachments(settings)]
    items += [_attached(body, installed, settings, "claims") for body in _templates(settings)]
    if claims.claimed(settings):
        items.append(Manifest("rails-class", claims.device_class(settings), installed))
    return Part(tuple(items))


def _own_namespaces(settings: Settings, operators: dict[str, Operator]) -> Iterator[Manifest]:
    retain = not releases.disposable(settings)
    owned = (releases.namespace(name, one) for name, one in operators.items() if _owned(one))
    for space in dict.fromkeys((*owned, *_namespaces(settings))):
        yield releases.namespace_manifest(space, retain=retain)


def _owned(operator: Operator) -> bool:
    return operator.manage == "install" and operator.manage_namespace == "install"


def _before(name: str, operator: Operator, settings: Settings) -> tuple[str, ...]:
    space = (releases.namespace_key(releases.namespace(name, operator)),) if _owned(operator) else ()
    # Its rules for NICs are objects that feature discovery defines.
    of_ours = [one for one in KINDS[name].after if wanted(settings)[one].manage == "install"]
    return (*space, *of_ours)


def _of_network_operator(settings: Settings, operator: Operator, installed: tuple[str, ...]) -> Iterator[Manifest]:
    space, version = releases.namespace(OPERATOR, operator), releases.version(OPERATOR, operator)
    retain = not releases.disposable(settings)
    yield Manifest(POLICY, policy.policy(settings, version), installed, retain=retain)
    if body := virtual.installer(settings, space, version):
        yield Manifest("network-plugins", body, (releases.namespace_key(space),) if _owned(operator) else ())
    for body in virtual.node_policies(settings, space):
        # Without the policy the operator's daemons find no node.
        yield Manifest(f"{body['metadata']['name']}-functions", body, (POLICY,))
    for body in policy.ip_pools(settings, space) if addresses.needed(settings) else ():
        yield Manifest(f"{body['metadata']['name']}-addresses", body, installed)


def _namespaces(settings: Settings) -> tuple[str, ...]:
    fabric = settings.fabric
    return fabric.attach_in if fabric and fabric.create_namespaces else ()


def _templates(settings: Settings) -> Iterable[dict[str, Any]]:
    spaces = settings.fabric.attach_in if settings.fabric else ()
    found = (claims.template(settings, group, space) for space in spaces for group in groups(settings))
    return (one for one in found if one)


def _attached(body: dict[str, Any], after: tuple[str, ...], settings: Settings, what: str) -> Manifest:
    metadata = body["metadata"]
    spaces = (releases.namespace_key(metadata["namespace"]),) if metadata["namespace"] in _namespaces(settings) else ()
    return Manifest(f"{metadata['namespace']}-{metadata['name']}-{what}", body, (*after, *spaces))
