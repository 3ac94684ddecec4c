"""Read a stack file from disk: strict YAML, the keys of our namespace, secrets left closed."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpu_platform.findings import Finding, did_you_mean, finding
from gpu_platform.settings.root import NAMESPACE
from gpu_platform.strict_yaml import NotYaml
from gpu_platform.strict_yaml import load as load_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOP_LEVEL = ("config", "encryptionsalt", "encryptedkey", "secretsprovider", "environment")


@dataclass(frozen=True)
class Document:
    """The keys of namespace gpu-platform by their short names, and what was wrong with the file itself."""

    keys: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


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
        content = load_yaml(text)
    except NotYaml as error:
        return _broken(path, str(error), "mend that line")
    if not isinstance(content, dict) or not isinstance(content.get("config"), dict):
        what = "it is empty" if content is None else "it has no mapping `config`"
        return Document({}, (finding("CFG-005", str(path), what, f"begin with config: and {NAMESPACE}:cluster"),))
    if astray := tuple(_astray(content)):
        return Document({}, astray)
    prefix = f"{NAMESPACE}:"
    ours = {key.removeprefix(prefix): value for key, value in content["config"].items() if str(key).startswith(prefix)}
    if not ours:
        fix = f"write {NAMESPACE}:cluster and {NAMESPACE}:inventory under config:"
        return Document({}, (finding("CFG-005", str(path), f"it has no key of namespace {NAMESPACE}", fix),))
    return Document(ours)


def _astray(content: dict[str, Any]) -> Iterator[Finding]:
    """Yield keys that are not where the engine's own reader, or this program, would look for them."""
    for key in content:
        if key not in _TOP_LEVEL:
            yield finding("CFG-001", str(key), "unknown key of a stack file", did_you_mean(str(key), _TOP_LEVEL))
    for key in content["config"]:
        namespace, colon, name = str(key).partition(":")
        if not colon:
            # Pulumi takes it for one of this project, and beside the whole key either may win.
            message = "a key without its namespace, which may or may not take the place of the whole one"
            yield finding("CFG-001", f"config.{key}", message, f"write {NAMESPACE}:{key}")
        elif namespace != NAMESPACE and difflib.get_close_matches(namespace, [NAMESPACE], cutoff=0.8):
            yield finding("CFG-001", f"config.{key}", "unknown namespace", f"did you mean {NAMESPACE}:{name}?")


def _broken(path: Path, message: str, fix: str) -> Document:
    return Document({}, (finding("CFG-004", str(path), message, fix),))
