"""Reading a stack file from disk never raises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gpu_platform.settings.document import load, stack_file
from gpu_platform.settings.read import read
from tests.stack_files import document

if TYPE_CHECKING:
    from pathlib import Path


def test_a_stack_is_named_or_its_file_is(tmp_path: Path) -> None:
    assert stack_file("prod", tmp_path) == tmp_path / "Pulumi.prod.yaml"
    assert str(stack_file("elsewhere/a.yaml", tmp_path)) == "elsewhere/a.yaml"


@pytest.mark.parametrize(("content", "says"), [(None, "No such file"), (b"\xff\xfe", "it is not UTF-8 text")])
def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "Pulumi.x.yaml"
    if content is not None:
        path.write_bytes(content)
    (found,) = load(path).findings
    assert (found.rule, found.path) == ("CFG-004", str(path))
    assert says in found.message


def test_a_section_that_no_json_can_hold_is_a_finding() -> None:
    keys: dict[str, Any] = document()
    keys["cluster"]["name"] = keys["cluster"]
    settings, findings = read(keys)
    assert settings.cluster is None
    assert [one.rule for one in findings] == ["CFG-002"]
