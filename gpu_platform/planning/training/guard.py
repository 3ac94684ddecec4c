"""Nobody asks for cards past the queues: policies of the API server for pods and claims."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning.labels import PREFIX
from gpu_platform.planning.operators.installation import owners
from gpu_platform.planning.training import config, metal
from gpu_platform.planning.training.objects import policy, rule

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings
    from gpu_platform.settings.training import Training

NAME = f"{PREFIX}-guard"
_ACTIONS = {"enforce": ["Deny"], "audit": ["Warn", "Audit"]}


def objects(settings: Settings, training: Training) -> list[tuple[str, dict[str, Any]]]:
    """Return the policies and their bindings by key; none with guard: off.

    A pod of a queue carries the queue's label, or the one that Kueue gives pods of jobs that it has admitted.
    """
    if training.guard == "off":
        return []
    classes = metal.classes(settings)
    asked = {name for pool in metal.pools(settings) for name in metal.metal(settings, pool)} - set(classes)
    free = sorted({*owners(settings), *training.exempt})
    found = _pair("pods", _pods(settings, sorted(asked), bool(classes)), free, training.guard)
    if classes:
        found += _pair("claims", _claims(settings, sorted(classes.values())), free, training.guard)
    return found


def _pods(settings: Settings, names: list[str], claims: bool) -> dict[str, Any]:
    labels = facts.table("kueue")["labels"]
    queued = " || ".join(f"{json.dumps(labels[key])} in object.metadata.labels" for key in ("queue", "podset"))
    asks = " || ".join(
        f"(has(one.resources.{part}) && one.resources.{part}.exists(name, name in {json.dumps(names)}))"
        for part in ("requests", "limits")
    )
    init = "(has(object.spec.initContainers) ? object.spec.initContainers : [])"
    card = f"(object.spec.containers + {init}).exists(one, has(one.resources) && ({asks}))"
    # What a claim is for stands elsewhere: a pod with any is one of a queue.
    claim = "variables.inside && has(object.spec.resourceClaims) && size(object.spec.resourceClaims) > 0"
    message = (
        "variables.inside ? 'this pod asks for cards and is in no queue: give its job the label "
        f"{labels['queue']}, with one of the queues of namespace ' + namespaceObject.metadata.name : "
        "'pods of namespace ' + namespaceObject.metadata.name + ' get no cards: run it in a namespace of a queue "
        f"({', '.join(config.namespaces(settings))}), or have the namespace added to training.exempt'"
    )
    return {
        "resources": [("", "pods")],
        "variables": {
            "inside": _inside(settings),
            "asks": f"({card}) || ({claim})" if claims else card,
            "queued": f"has(object.metadata.labels) && ({queued})",
        },
        "expression": "!variables.asks || (variables.inside && variables.queued)",
        "message": message,
    }


def _claims(settings: Settings, classes: list[str]) -> dict[str, Any]:
    named = json.dumps(classes)
    exactly = f"(has(one.exactly) && one.exactly.deviceClassName in {named})"
    first = f"(has(one.firstAvailable) && one.firstAvailable.exists(each, each.deviceClassName in {named}))"
    # A template has what it makes one level further down.
    devices = "(has(object.spec.spec) ? object.spec.spec.devices : object.spec.devices)"
    message = (
        "'claims of namespace ' + namespaceObject.metadata.name + ' get no cards: make it in a namespace of a queue "
        f"({', '.join(config.namespaces(settings))}), or have the namespace added to training.exempt'"
    )
    return {
        "resources": [("resource.k8s.io", "resourceclaims"), ("resource.k8s.io", "resourceclaimtemplates")],
        "variables": {
            "inside": _inside(settings),
            "asks": f"{devices}.requests.exists(one, {exactly} || {first})",
        },
        "expression": "!variables.asks || variables.inside",
        "message": message,
    }


def _inside(settings: Settings) -> str:
    return f"namespaceObject.metadata.name in {json.dumps(config.namespaces(settings))}"


def _pair(what: str, rules: dict[str, Any], free: list[str], guard: str) -> list[tuple[str, dict[str, Any]]]:
    selector = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": free}
    constraints = {
        "resourceRules": [rule(group, name, "CREATE") for group, name in rules["resources"]],
        "namespaceSelector": {"matchExpressions": [selector]},
    }
    validation = {"expression": rules["expression"], "messageExpression": rules["message"], "reason": "Forbidden"}
    bodies = policy(f"{NAME}-{what}", constraints, rules["variables"], validation, _ACTIONS[guard])
    return list(zip((f"guard-{what}-policy", f"guard-{what}-binding"), bodies, strict=True))
