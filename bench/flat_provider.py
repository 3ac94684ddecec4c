"""The dynamic provider that somebody would write by hand; in a module of its own, so that state names it in short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import requests
from pulumi.dynamic import CreateResult, Resource, ResourceProvider

if TYPE_CHECKING:
    import pulumi

TIMEOUT_SECONDS = 15


class SchematicProvider(ResourceProvider):
    """Posts a document to an Image Factory."""

    serialize_as_secret_always = False

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Register the document."""
        answer = requests.post(
            f"{props['factory_url']}/schematics", data=props["schematic"].encode(), timeout=TIMEOUT_SECONDS
        )
        answer.raise_for_status()
        return CreateResult(answer.json()["id"], props)


class Schematic(Resource, module="gpu-platform", name="Schematic"):
    """One schematic, under the type that the platform gives it."""

    def __init__(self, name: str, inputs: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(SchematicProvider(), name, inputs, opts)
