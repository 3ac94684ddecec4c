"""JSON Schemas that other tools read: of the stack file, and of the stack's outputs."""

from __future__ import annotations

from typing import Any

from gpu_platform.outputs import PlatformOutputs
from gpu_platform.settings.root import stack_file_schema

__all__ = ["outputs_schema", "stack_file_schema"]


def outputs_schema() -> dict[str, Any]:
    """Return the schema of the outputs contract (contract/outputs.v1.json)."""
    schema = PlatformOutputs.model_json_schema(by_alias=True, mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
