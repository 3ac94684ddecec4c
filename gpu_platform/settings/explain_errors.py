"""Turn pydantic's errors into findings that name the path, the trouble and the mend."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin

from gpu_platform.findings import Finding, did_you_mean, finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gpu_platform.settings.base import Section

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
        key, here = str(location[-1]), _model(model, location[:-1])
        message, _, fix = getattr(here, "astray", {}).get(key, "").rpartition(": ")
        fix = fix or did_you_mean(key, list(_fields(here)))
        return finding("CFG-001", path, message or "unknown key", fix)
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
        told = text.removeprefix("Value error, ")
        message, _, fix = told.rpartition(": ")
        return (message, fix) if message else ("this does not fit", told)
    if kind == "literal_error":
        expected = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        given = error["input"]
        message = f"{given!r} is not among the choices" if isinstance(given, str) else "this is not among the choices"
        return message, did_you_mean(str(given), expected)
    said = text[0].lower() + text[1:]
    for bound, words in (
        ("ge", "write {} or more"),
        ("le", "write {} or less"),
        ("pattern", "write it in the form {}"),
    ):
        if bound in error.get("ctx", {}):
            return said, words.format(error["ctx"][bound])
    return said, FIXES.get(kind, "write what is described in `python -m gpu_platform schema`")


def _model(model: type[Section], location: list[Any]) -> Any:
    """Return the model at `location`."""
    here: Any = model
    for part in location:
        here = _step(here, part)
    return _bare(here)


def _step(annotation: Any, part: Any) -> Any:
    """Return what stands at a key of a section, or in each entry of a mapping or list."""
    here = _bare(annotation)
    if get_origin(here) is None:
        return _fields(here).get(part)
    return next(one for one in reversed(get_args(here)) if one is not ...)


def _fields(model: Any) -> dict[str, Any]:
    return {info.alias or name: info.annotation for name, info in getattr(model, "model_fields", {}).items()}


def _bare(annotation: Any) -> Any:
    """Return the one type behind Annotated and `| None`."""
    if get_origin(annotation) in {Annotated, Union, types.UnionType}:
        return _bare(next(one for one in get_args(annotation) if one is not types.NoneType))
    return annotation
