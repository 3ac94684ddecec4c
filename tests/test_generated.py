"""Generated files are up to date: `make generated` writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import jsonschema
import pytest
import yaml

from gpu_platform.reports.rules import as_markdown
from gpu_platform.reports.schemas import outputs_schema, stack_file_schema
from tests.stack_files import FIXTURES, PROJECT

if TYPE_CHECKING:
    from pathlib import Path


def test_the_rule_catalogue_is_up_to_date() -> None:
    assert (PROJECT / "docs" / "rules.md").read_text(encoding="utf-8") == as_markdown()


def test_the_editors_schema_is_up_to_date() -> None:
    assert json.loads((PROJECT / "schema" / "stack-file.json").read_text(encoding="utf-8")) == stack_file_schema()


def test_the_outputs_contract_has_not_drifted() -> None:
    """A change of the schema is a new version of the contract, or an addition told in docs/outputs.md."""
    assert json.loads((PROJECT / "contract" / "outputs.v1.json").read_text(encoding="utf-8")) == outputs_schema()


@pytest.mark.parametrize(
    "path", [*PROJECT.glob("Pulumi.*.yaml"), *FIXTURES.glob("valid/*.yaml")], ids=lambda path: path.stem
)
def test_the_editors_schema_accepts_what_the_plan_accepts(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    jsonschema.validate(content, stack_file_schema())


@pytest.mark.parametrize("name", ["unknown-key", "unknown-key-deep", "wrong-type", "unknown-state", "missing-key"])
def test_the_editors_schema_refuses_what_is_of_the_wrong_shape(name: str) -> None:
    content = yaml.safe_load((FIXTURES / "invalid" / f"{name}.yaml").read_text(encoding="utf-8"))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, stack_file_schema())
