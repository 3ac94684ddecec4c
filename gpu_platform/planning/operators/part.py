"""What the component registers: namespaces, what operators read, the operators, and what they are told."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gpu_platform.planning import inventory
from gpu_platform.planning.model import Manifest, OperatorPlan, Part, Release
from gpu_platform.planning.node_patches import node_patches
from gpu_platform.planning.operators.catalogue import catalogued, namespace, version
from gpu_platform.planning.operators.kinds import KINDS, Kind, wanted
from gpu_platform.planning.operators.releases import disposable, namespace_key, namespace_manifest, release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings


PART = "gpu-operator"


def plan_operators(settings: Settings) -> tuple[OperatorPlan, ...]:
    """Return each operator as outputs show it, with the values that a foreign release must carry."""
    return tuple(
        OperatorPlan(
            name=name,
            manage=operator.manage,
            version=version(name, operator),
            namespace=namespace(name, operator),
            required_values=KINDS[name].values(settings) if operator.manage == "existing" else {},
            needs=dict(catalogued(name).get("needs", {})),
        )
        for name, operator in wanted(settings).items()
    )


def plan_part(settings: Settings) -> Part:
    """Return everything that this stack installs to have GPUs handed out, in an order that works."""
    operators = wanted(settings)
    spaces: dict[str, Manifest] = {}
    items: list[Manifest | Release] = []
    for name, operator in operators.items():
        if KINDS[name].part != PART:
            continue
        space = namespace(name, operator)
        owned = operator.manage == "install" and operator.manage_namespace == "install"
        if owned:
            spaces.setdefault(space, namespace_manifest(space, retain=not disposable(settings)))
        items += _operator(name, operator, settings, operators, (namespace_key(space),) if owned else ())
    return Part((*spaces.values(), *items))


def _operator(
    name: str, operator: Operator, settings: Settings, operators: dict[str, Operator], before: tuple[str, ...]
) -> Iterator[Manifest | Release]:
    kind, space = KINDS[name], namespace(name, operator)
    read = [_config_map(*one, space, before) for each in kind.reads for one in each(settings)]
    yield from read
    first = tuple(one for one in kind.after if one in operators and operators[one].manage == "install")
    if operator.manage == "install":
        yield release(name, operator, settings, after=(*before, *first, *(one.key for one in read)))
    after = (name,) if operator.manage == "install" else ()
    yield from (Manifest(key, body, after) for key, body in kind.objects(settings, space))
    yield from _patches(kind, settings, after)


def _config_map(key: str, name: str, data: dict[str, str], namespace: str, after: tuple[str, ...]) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return Manifest(key, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}, after)


def _patches(kind: Kind, settings: Settings, after: tuple[str, ...]) -> Iterator[Manifest]:
    pools = inventory.of_vendor(settings, kind.vendor).values()
    for subject, labels in kind.labels:
        yield from node_patches(pools, subject, partial(labels, settings), after)
