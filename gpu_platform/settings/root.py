"""The root of the stack file: every section and flat secret key by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from gpu_platform.settings.cluster import Cluster
from gpu_platform.settings.fabric import Fabric
from gpu_platform.settings.gpu import GpuSettings
from gpu_platform.settings.image import Image
from gpu_platform.settings.inventory import Inventory
from gpu_platform.settings.operators import Operators
from gpu_platform.settings.training import Training

if TYPE_CHECKING:
    from gpu_platform.settings.base import Section

NAMESPACE = "gpu-platform"

SECTIONS: dict[str, type[Section]] = {
    "cluster": Cluster,
    "inventory": Inventory,
    "image": Image,
    "operators": Operators,
    "gpu": GpuSettings,
    "fabric": Fabric,
    "training": Training,
}

# Sections that the design has and this version has not: named, so that using one is refused and never ignored.
NOT_YET = ("inference", "alerts", "cost")

# Secrets are flat keys of their own: inside a section Pulumi would hand them out, and keep them, in plain text.
SECRETS = {
    "kubeconfig": "kubeconfig of the cluster",
    "factoryToken": "token of the Image Factory (bearer authentication)",
    "factoryPassword": "password of the Image Factory (basic authentication, with image.factory.username)",
}


# By identity: what is worked out of it once can be kept beside it.
@dataclass(frozen=True, eq=False)
class Settings:
    """The sections that were read; one that is missing and needed, or broken, is None."""

    cluster: Cluster | None
    inventory: Inventory | None
    image: Image | None
    operators: Operators | None
    gpu: GpuSettings | None
    fabric: Fabric | None
    training: Training | None
    secrets: frozenset[str] = field(default_factory=frozenset)


def stack_file_schema() -> dict[str, Any]:
    """Return the JSON Schema of a whole Pulumi.<stack>.yaml for editors."""
    references, combined = models_json_schema([(model, "validation") for model in SECTIONS.values()])
    sections = {f"{NAMESPACE}:{name}": references[model, "validation"] for name, model in SECTIONS.items()}
    secret = {"type": "object", "properties": {"secure": {"type": "string"}}, "additionalProperties": False}
    secrets = {f"{NAMESPACE}:{name}": {**secret, "description": text} for name, text in SECRETS.items()}
    config = {
        "type": "object",
        "properties": {**sections, **secrets},
        "patternProperties": {f"^(?!{NAMESPACE}:)": {}},
        "additionalProperties": False,
        "required": [f"{NAMESPACE}:cluster", f"{NAMESPACE}:inventory"],
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Stack file of gpu-platform",
        "type": "object",
        "properties": {"config": config},
        "required": ["config"],
        "$defs": combined["$defs"],
    }
