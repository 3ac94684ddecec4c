"""The program that one would write by hand for one environment: literal values into resources, nothing planned.

Its literals come as JSON, in the order of a reader: `flat:resources` and `flat:outputs`. `flat:classes` chooses the
classes of Kubernetes objects: `typed` are those of the SDK, which people use and which cost their import; `generic` is
the least that registers the same. What the platform exports once it exists is literal here too, in favour of this side.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi_kubernetes import Provider
from pulumi_kubernetes.helm.v3 import Release

from bench.flat_provider import Schematic

if TYPE_CHECKING:
    from collections.abc import Callable

literals = pulumi.Config("flat")
typed = literals.require("classes") == "typed"
made: dict[str, pulumi.Resource] = {}
hooks: dict[str, pulumi.ErrorHook] = {}


def arguments(inputs: dict[str, Any], *without: str) -> dict[str, Any]:
    """Return inputs as the SDK's classes spell them."""
    return {re.sub("([A-Z])", r"_\1", key).lower(): value for key, value in inputs.items() if key not in without}


def kubernetes_object(name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions, token: str) -> pulumi.Resource:
    """Register an object, or read it where its options have an ID."""
    if not typed:
        return pulumi.CustomResource(token, name, {"metadata": None, **inputs}, opts)
    _, group, kind = token.split(":")
    module = importlib.import_module(f"pulumi_kubernetes.{group.partition('/')[0].split('.')[0]}.{group.split('/')[1]}")
    found: pulumi.Resource = getattr(module, kind)(name, **arguments(inputs, "apiVersion", "kind"), opts=opts)
    return found


MAKERS: dict[str, Callable[[str, dict[str, Any], pulumi.ResourceOptions], pulumi.Resource]] = {
    "pulumi:providers:kubernetes": lambda name, inputs, opts: Provider(name, **arguments(inputs), opts=opts),
    "pulumi-python:dynamic/gpu-platform:Schematic": Schematic,
    "kubernetes:helm.sh/v3:Release": lambda name, inputs, opts: Release(name, **arguments(inputs, "compat"), opts=opts),
}


def register(one: dict[str, Any]) -> pulumi.Resource:
    """Register one resource with its literal inputs and options."""
    opts = pulumi.ResourceOptions(
        parent=made.get(one["parent"]),
        provider=made.get(one["provider"].rpartition("::")[0]),  # type: ignore[arg-type] # providers stand among them
        depends_on=[made[urn] for urn in one["dependencies"]],
        protect=one["protect"],
        retain_on_delete=one["retain"],
        hooks=pulumi.ResourceHookBinding(on_error=[hook(name) for name in one["hooks"]]),
        id=one["id"],
    )
    if not one["custom"]:
        return pulumi.ComponentResource(one["type"], one["name"], None, opts)
    if maker := MAKERS.get(one["type"]):
        return maker(one["name"], one["inputs"], opts)
    return kubernetes_object(one["name"], one["inputs"], opts, one["type"])


def hook(name: str) -> pulumi.ErrorHook:
    """Return the hook of that name, the same for all resources."""
    if name not in hooks:
        hooks[name] = pulumi.ErrorHook(name, lambda _: False)
    return hooks[name]


for resource in literals.require_object("resources"):
    made[resource["urn"]] = register(resource)
for key, value in literals.require_object("outputs").items():
    pulumi.export(key, value)
