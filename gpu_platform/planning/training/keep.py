"""What running jobs stand on stays: a policy of the API server for everybody who edits a ClusterQueue."""

from __future__ import annotations

from typing import Any

from gpu_platform.planning.labels import PREFIX
from gpu_platform.planning.training.objects import group, policy, rule

NAME = f"{PREFIX}-flavors-in-use"
_USED = (
    "has(oldObject.status) && has(oldObject.status.flavorsReservation) ? "
    "oldObject.status.flavorsReservation.filter(flavor, flavor.resources.exists(one, "
    "has(one.total) && quantity(string(one.total)).isGreaterThan(quantity('0')))).map(flavor, string(flavor.name)) : []"
)
_GONE = (
    "variables.used.filter(used, !has(object.spec.resourceGroups) || "
    "!object.spec.resourceGroups.exists(group, group.flavors.exists(flavor, flavor.name == used)))"
)
_MESSAGE = (
    "'queue ' + object.metadata.name + ' has jobs on ' + variables.gone.join(', ') + ', which this change takes away: "
    "Kueue would forget their cards and start others on them; write hold: drain for the queue, wait, then change it'"
)


def objects() -> list[dict[str, Any]]:
    """Return the policy and its binding: no flavor leaves a ClusterQueue that has cards of it in use.

    Kueue forgets what is used of a flavor that no queue names any more, and admits a second gang onto the same cards
    (measured on 0.17.0); its own webhooks let that pass.
    """
    validation = {"expression": "size(variables.gone) == 0", "messageExpression": _MESSAGE, "reason": "Invalid"}
    constraints = {"resourceRules": [rule(group(), "clusterqueues", "UPDATE")]}
    return policy(NAME, constraints, {"used": _USED, "gone": _GONE}, validation, ["Deny"])
