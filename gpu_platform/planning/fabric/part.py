"""What the component registers: the network operator, its policy, addresses, networks, and namespaces when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.fabric import addresses, names, networks, policy
from gpu_platform.planning.fabric.groups import groups
from gpu_platform.planning.fabric.modes import mode, present, row
from gpu_platform.planning.fabric.workload import workloads
from gpu_platform.planning.model import FabricPlan, FabricPool, Manifest, Part, Rail, Release
from gpu_platform.planning.operators import releases

if TYPE_CHECKING:
    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

OPERATOR = "network-operator"
POLICY = "nic-cluster-policy"


def plan_part(settings: Settings) -> Part:
    """Return everything that this stack installs for the fabric; nothing without pools on it."""
    if not present(settings) or settings.operators is None:
        return Part()
    operator = settings.operators.network_operator
    space = releases.namespace(OPERATOR, operator)
    retain = not releases.disposable(settings)
    owned = operator.manage == "install" and operator.manage_namespace == "install"
    items: list[Manifest | Release] = []
    if owned:
        items.append(releases.namespace_manifest(space, retain=retain))
    items += [releases.namespace_manifest(one, retain=retain) for one in _namespaces(settings)]
    after = tuple(one.key for one in items[:1]) if owned else ()
    if operator.manage == "install":
        # Its rules for NICs are objects that feature discovery defines.
        discovery = ("nfd",) if settings.operators.nfd.manage == "install" else ()
        items.append(releases.release(OPERATOR, operator, settings, after=(*after, *discovery)))
        after = (OPERATOR,)
    items.append(Manifest(POLICY, policy.policy(settings, _version(operator)), after, retain=retain))
    items += [
        Manifest(f"{body['metadata']['name']}-addresses", body, after)
        for body in (policy.ip_pools(settings, space) if addresses.needed(settings) else ())
    ]
    items += [_network(body, after, settings) for body in networks.attachments(settings)]
    return Part(tuple(items))


def _namespaces(settings: Settings) -> tuple[str, ...]:
    fabric = settings.fabric
    return fabric.attach_in if fabric and fabric.create_namespaces else ()


def _network(body: dict[str, Any], after: tuple[str, ...], settings: Settings) -> Manifest:
    metadata = body["metadata"]
    spaces = (releases.namespace_key(metadata["namespace"]),) if metadata["namespace"] in _namespaces(settings) else ()
    return Manifest(f"{metadata['namespace']}-{metadata['name']}-network", body, (*after, *spaces))


def _version(operator: Operator) -> str:
    return releases.version(OPERATOR, operator)


def plan_fabric(settings: Settings) -> FabricPlan | None:
    """Return the fabric as outputs and reports show it; None where no pool is on one."""
    if not present(settings) or settings.fabric is None:
        return None
    nets = networks.subnets_text(settings)
    capacity = addresses.capacity(settings.fabric, addresses.subnets(settings)[0]) if nets else None
    pods = {one.pool: one for one in workloads(settings)}
    return FabricPlan(
        mode=mode(settings),
        policy=policy.NAME,
        namespaces=settings.fabric.attach_in,
        capacity=capacity,
        pools=tuple(
            FabricPool(
                name=group.pool,
                fabric=group.fabric,
                device=group.device,
                rails=tuple(
                    Rail(
                        index=index,
                        pci=port.pci,
                        hca=port.hca,
                        interface=port.interface,
                        network=names.network(settings, index) if row(settings)["network"] else None,
                        resource=names.resource(settings, index),
                        subnet=nets.get(index),
                    )
                    for index, port in enumerate(group.ports)
                ),
                networks=pods[group.pool].networks,
                limits=pods[group.pool].limits,
                node_selector=pods[group.pool].node_selector,
                environment=pods[group.pool].environment,
                patch=pods[group.pool].patch,
            )
            for group in groups(settings)
        ),
    )
