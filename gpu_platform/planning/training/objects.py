"""Objects as Kueue and the API server read them: what every one of them has."""

from __future__ import annotations

from typing import Any

from gpu_platform import facts

ADMISSION = "admissionregistration.k8s.io/v1"


def group() -> str:
    """Return the group of Kueue's objects."""
    return str(facts.table("kueue")["api"]["group"]).partition("/")[0]


def kueue(kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return an object of Kueue."""
    return {"apiVersion": facts.table("kueue")["api"]["group"], "kind": kind, "metadata": {"name": name}, "spec": spec}


def rule(api_group: str, resource: str, operation: str) -> dict[str, Any]:
    """Return what a policy is asked about: one operation on one resource, in any of its versions."""
    return {"apiGroups": [api_group], "apiVersions": ["*"], "resources": [resource], "operations": [operation]}


def policy(
    name: str,
    constraints: dict[str, Any],
    variables: dict[str, str],
    validation: dict[str, str],
    actions: list[str],
) -> list[dict[str, Any]]:
    """Return a ValidatingAdmissionPolicy of one validation, and its binding; who cannot be asked about is refused."""
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {**constraints, "matchPolicy": "Equivalent"},
        "variables": [{"name": key, "expression": text} for key, text in variables.items()],
        "validations": [validation],
    }
    binding = {"policyName": name, "validationActions": actions}
    kind = "ValidatingAdmissionPolicy"
    bodies = {kind: spec, f"{kind}Binding": binding}
    return [
        {"apiVersion": ADMISSION, "kind": key, "metadata": {"name": name}, "spec": body} for key, body in bodies.items()
    ]
