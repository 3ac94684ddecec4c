"""Read a stack file from disk: strict YAML, the keys of our namespace, secrets left closed."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from gpu_platform.findings import Finding, finding
from gpu_platform.settings.root import NAMESPACE

Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Document:
    """The keys of namespace gpu-platform by their short names, and what was wrong with the file itself."""

    keys: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


class _Strict(Loader):  # type: ignore[misc]
    """YAML in which a key stands once, as in the engine's own reader."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[Any, Any]:
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


_Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def stack_file(name: str, directory: Path) -> Path:
    """Return the stack file that `name` means: a path, or the stack's Pulumi.<name>.yaml in `directory`."""
    if name.endswith((".yaml", ".yml")) or "/" in name:
        return Path(name)
    return directory / f"Pulumi.{name}.yaml"


def load(path: Path) -> Document:
    """Return the document in `path`; a file that cannot be read is a finding, never an exception."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        return _broken(path, error.strerror or "it cannot be read", "name a stack, such as prod, or a file that exists")
    except UnicodeDecodeError:
        return _broken(path, "it is not UTF-8 text", "save it as UTF-8")
    return parse(text, path)


def parse(text: str, path: Path) -> Document:
    """Return the document in `text`; `path` names it in findings."""
    try:
        content = yaml.load(text, Loader=_Strict)  # noqa: S506 - a safe loader, made stricter
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        return _broken(path, f"it is not YAML ({where}{error.problem or error.context})", "mend that line")
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        return _broken(path, f"it is not YAML ({str(error).splitlines()[0]})", "write a stack file, see README.md")
    if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
        what = "it is empty" if content is None else "it has no mapping `config`"
        return Document({}, (finding("CFG-005", str(path), what, f"begin with config: and {NAMESPACE}:cluster"),))
    prefix = f"{NAMESPACE}:"
    ours = {key.removeprefix(prefix): value for key, value in content["config"].items() if str(key).startswith(prefix)}
    if not ours:
        fix = f"write {NAMESPACE}:cluster and {NAMESPACE}:inventory under config:"
        return Document({}, (finding("CFG-005", str(path), f"it has no key of namespace {NAMESPACE}", fix),))
    return Document(ours)


def _broken(path: Path, message: str, fix: str) -> Document:
    return Document({}, (finding("CFG-004", str(path), message, fix),))
