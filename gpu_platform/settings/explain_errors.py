"""Turn pydantic's errors into findings that name the path, the trouble and the mend."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

from gpu_platform.findings import Finding, did_you_mean, finding
from gpu_platform.settings.base import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# What to write instead, by pydantic's error type; what is not here says what was expected in pydantic's own words.
FIXES = {
    "string_type": "write text, in quotes if it looks like a number",
    "int_type": "write a whole number without quotes",
    "int_from_float": "write a whole number",
    "bool_type": "write true or false",
    "dict_type": "write a mapping (key: value)",
    "model_type": "write a mapping (key: value)",
    "model_attributes_type": "write a mapping (key: value)",
    "tuple_type": "write a list (- value)",
    "list_type": "write a list (- value)",
    "string_too_short": "write some text, or remove the key",
    "too_short": "write at least one entry",
}


def to_finding(section: str, model: type[Section], error: Mapping[str, Any]) -> Finding:
    """Return the finding for one pydantic error of a section."""
    location = [part for part in error["loc"] if part != "[key]"]
    path = dotted(section, location)
    kind = error["type"]
    if kind == "extra_forbidden":
        return finding("CFG-001", path, "unknown key", did_you_mean(str(location[-1]), _keys(model, location[:-1])))
    if kind == "missing":
        return finding("CFG-003", path, "this key is missing", f"write {location[-1]}")
    message, fix = _sentence(error)
    return finding("CFG-002", path, message, fix)


def dotted(section: str, location: list[Any]) -> str:
    """Return a path as people write it: section.key.list[0]."""
    return section + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)


def _sentence(error: Mapping[str, Any]) -> tuple[str, str]:
    kind, text = error["type"], str(error["msg"])
    if kind == "value_error":
        # Our own validators end with what to write: 'trouble: mend'.
        message, _, fix = text.removeprefix("Value error, ").rpartition(": ")
        return message or text, fix or "write it as described"
    if kind == "literal_error":
        expected = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        given = error["input"]
        message = f"{given!r} is not among the choices" if isinstance(given, str) else "this is not among the choices"
        return message, did_you_mean(str(given), expected)
    said = text[0].lower() + text[1:]
    return said, FIXES.get(kind, "write what is described in `python -m gpu_platform schema`")


def _keys(model: type[Section], location: list[Any]) -> list[str]:
    """Return the keys that the model at `location` knows."""
    here: Any = model
    for part in location:
        here = _step(here, part)
    models = [one for one in _unfold(here) if isinstance(one, type) and issubclass(one, Section)]
    return [info.alias or name for one in models for name, info in one.model_fields.items()]


def _step(annotation: Any, part: Any) -> Any:
    for one in _unfold(annotation):
        if isinstance(one, type) and issubclass(one, Section):
            for name, info in one.model_fields.items():
                if part in {info.alias, name}:
                    return info.annotation
        elif get_origin(one) is dict:
            return get_args(one)[1]
        elif get_origin(one) is tuple:
            return get_args(one)[0]
    return None


def _unfold(annotation: Any) -> Iterator[Any]:
    """Yield the members of a union, without Annotated and None."""
    if hasattr(annotation, "__metadata__"):
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in {Union, types.UnionType}:
        for one in get_args(annotation):
            yield from _unfold(one)
    elif annotation is not types.NoneType:
        yield annotation
