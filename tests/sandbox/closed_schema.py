"""Custom resource definitions as closed JSON Schemas: what the API server would prune is an error here."""

from typing import Any

from jsonschema import Draft202012Validator

Object = dict[str, Any]


def troubles(definition: Object, found: Object) -> list[str]:
    """Return what of an object its definition does not allow, keys that would be pruned included."""
    version = found["apiVersion"].rpartition("/")[2]
    schema = next(one for one in definition["spec"]["versions"] if one["name"] == version)["schema"]["openAPIV3Schema"]
    body = {key: value for key, value in found.items() if key not in {"apiVersion", "kind", "metadata"}}
    validator = Draft202012Validator(_closed({**schema, "properties": _without_head(schema["properties"])}))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(body)]


def _without_head(properties: Object) -> Object:
    return {key: value for key, value in properties.items() if key not in {"apiVersion", "kind", "metadata"}}


def _closed(schema: Object) -> Object:
    if schema.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    result = {key: value for key, value in schema.items() if key != "format"}
    if "items" in schema:
        result["items"] = _closed(schema["items"])
    if "properties" in schema:
        result["properties"] = {key: _closed(value) for key, value in schema["properties"].items()}
    if isinstance(schema.get("additionalProperties"), dict):
        result["additionalProperties"] = _closed(schema["additionalProperties"])
    elif schema.get("type") == "object" and not schema.get("x-kubernetes-preserve-unknown-fields"):
        result["additionalProperties"] = False
    return result
