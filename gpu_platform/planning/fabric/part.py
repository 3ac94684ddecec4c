"""What the component registers: operators, their policy, addresses, networks, claims, and namespaces when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.fabric import addresses, claims, networks, policy, virtual
from gpu_platform.planning.fabric.groups import groups
from gpu_platform.planning.fabric.modes import present
from gpu_platform.planning.model import Manifest, Part
from gpu_platform.planning.operators import catalogue, releases
from gpu_platform.planning.operators.installation import installation, installed, namespace_keys, operators

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

PART = "rdma-fabric"
OPERATOR = "network-operator"
POLICY = "nic-cluster-policy"


def plan_part(settings: Settings) -> Part:
    """Return everything that this stack installs for the fabric; nothing without pools on it."""
    if not present(settings) or settings.operators is None:
        return Part()
    items = installation(settings, PART, namespaces(settings))
    after, those = installed(settings, PART), operators(settings, PART)
    if OPERATOR in those:
        items += _of_network_operator(settings, those[OPERATOR], after)
    items += [_attached(body, after, settings, "network") for body in networks.attachments(settings)]
    items += [_attached(body, after, settings, "claims") for body in _templates(settings)]
    if claims.claimed(settings):
        items.append(Manifest("rails-class", claims.device_class(settings), after))
    return Part(tuple(items))


def _of_network_operator(settings: Settings, operator: Operator, after: tuple[str, ...]) -> Iterator[Manifest]:
    space, version = catalogue.namespace(OPERATOR, operator), catalogue.version(OPERATOR, operator)
    retain = not releases.disposable(settings)
    yield Manifest(POLICY, policy.policy(settings, version), after, retain=retain)
    if body := virtual.installer(settings, space, version):
        yield Manifest("network-plugins", body, namespace_keys(OPERATOR, operator))
    for body in virtual.node_policies(settings, space):
        # Without the policy the operator's daemons find no node.
        yield Manifest(f"{body['metadata']['name']}-functions", body, (POLICY,))
    for body in policy.ip_pools(settings, space) if addresses.needed(settings) else ():
        yield Manifest(f"{body['metadata']['name']}-addresses", body, after)


def namespaces(settings: Settings) -> tuple[str, ...]:
    """Return the namespaces that this component makes, when asked."""
    fabric = settings.fabric
    return fabric.attach_in if present(settings) and fabric and fabric.create_namespaces else ()


def _templates(settings: Settings) -> Iterable[dict[str, Any]]:
    spaces = settings.fabric.attach_in if settings.fabric else ()
    found = (claims.template(settings, group, space) for space in spaces for group in groups(settings))
    return (one for one in found if one)


def _attached(body: dict[str, Any], after: tuple[str, ...], settings: Settings, what: str) -> Manifest:
    metadata = body["metadata"]
    spaces = (releases.namespace_key(metadata["namespace"]),) if metadata["namespace"] in namespaces(settings) else ()
    return Manifest(f"{metadata['namespace']}-{metadata['name']}-{what}", body, (*after, *spaces))
