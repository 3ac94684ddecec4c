"""Every rule has a stack file that breaks it, and that file breaks nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gpu_platform.findings import Severity, rules
from gpu_platform.outputs import outputs_of
from gpu_platform.reports.node_changes import impossible
from gpu_platform.settings.document import parse
from tests.stack_files import FIXTURES, PROJECT, good, planned_file

if TYPE_CHECKING:
    from pathlib import Path

BREAKING = sorted([*FIXTURES.glob("invalid/*.yaml"), *FIXTURES.glob("warning/*.yaml")])

TRANSITIONS = sorted(FIXTURES.glob("transition/*.yaml"))


def expectation(path: Path) -> tuple[str, str]:
    mark, rule, where = path.read_text(encoding="utf-8").splitlines()[0].split(maxsplit=2)
    assert mark == "#", f"{path} does not begin with a comment that names rule and path"
    return rule, where


@pytest.mark.parametrize("path", BREAKING, ids=lambda path: path.stem)
def test_a_broken_stack_file_gets_the_finding_that_it_names(path: Path) -> None:
    rule, where = expectation(path)
    result = planned_file(path)
    assert [one.rule for one in result.findings] == [rule], [str(one) for one in result.findings]
    found = result.findings[0]
    assert found.path == (str(path) if where == "-" else where)
    assert found.message
    assert found.fix
    assert (result.plan is None) == (found.severity is Severity.ERROR)


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("valid/*.yaml")), ids=lambda path: path.stem)
def test_a_valid_stack_file_gets_no_finding_and_a_plan(path: Path) -> None:
    result = planned_file(path)
    assert [str(one) for one in result.findings] == []
    assert result.plan is not None


@pytest.mark.parametrize("path", TRANSITIONS, ids=lambda path: path.stem)
def test_a_change_that_nodes_cannot_follow_gets_the_finding_that_it_names(path: Path) -> None:
    """Two stack files in one: what was, and what shall be."""
    before, after = (
        outputs_of(good(parse(text, path).keys)) for text in path.read_text(encoding="utf-8").split("---\n")
    )
    found = list(impossible(before, after, frozenset()))
    assert [(one.rule, one.path) for one in found] == [expectation(path)]
    assert list(impossible(after, after, frozenset())) == []
    assert list(impossible(None, after, frozenset())) == []


def test_every_rule_has_a_fixture() -> None:
    assert {expectation(path)[0] for path in (*BREAKING, *TRANSITIONS)} == set(rules())


def test_fixtures_lie_where_their_severity_says() -> None:
    for path in BREAKING:
        severity = rules()[expectation(path)[0]].severity
        assert path.parent.name == {"error": "invalid", "warning": "warning"}[severity], path


@pytest.mark.parametrize("stack", ["prod", "staging", "sandbox"])
def test_the_projects_own_stack_files_have_a_plan(stack: str) -> None:
    result = planned_file(PROJECT / f"Pulumi.{stack}.yaml")
    assert result.plan is not None, [str(one) for one in result.findings]
