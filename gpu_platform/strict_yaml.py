"""YAML in which a key stands once: what PyYAML would let the last one win, Go's readers refuse."""

from __future__ import annotations

import re
from typing import Any

import yaml

_SAFE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_TEXT: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


_TIME = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt ].*)?")


class _Safe(_SAFE):  # type: ignore[misc]
    """Values as YAML types."""


class Quoted(str):
    """A text that stood in quotes or in a block: never a number, a truth value, or nothing."""

    __slots__ = ()


class _Text(_TEXT):  # type: ignore[misc]
    """Every scalar as the text that stands there, nothing as None."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
    if isinstance(loader, _Safe):
        loader.flatten_mapping(node)
    seen: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, list | dict | set):
            raise yaml.MarkedYAMLError(problem="a key is no plain word", problem_mark=key_node.start_mark)
        if key in seen:
            raise yaml.MarkedYAMLError(problem=f"key {key!r} stands twice", problem_mark=key_node.start_mark)
        seen[key] = loader.construct_object(value_node, deep=True)
    return seen


_Safe.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)
_Text.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def _as_text(_loader: Any, node: yaml.ScalarNode) -> str | None:
    if node.style in {"'", '"', "|", ">"}:
        return Quoted(node.value)
    if node.value in {"", "~", "null", "Null", "NULL"}:
        return None
    if _TIME.fullmatch(node.value):
        problem = "a date without quotes, which is no text"
        raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return str(node.value)


_Text.add_constructor(yaml.resolver.BaseResolver.DEFAULT_SCALAR_TAG, _as_text)


class NotYaml(Exception):  # noqa: N818 - reads as what it says
    """One sentence: where and why a text is no YAML."""


def load(text: str, *, as_text: bool = False) -> Any:
    """Return the first document of `text`, scalars as text when asked; raises NotYaml."""
    try:
        return yaml.load(text, Loader=_Text if as_text else _Safe)  # noqa: S506 - both are safe loaders
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise NotYaml(f"it is not YAML ({where}{error.problem or error.context})") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise NotYaml(f"it is not YAML ({(str(error).splitlines() or ['too deep'])[0]})") from None
