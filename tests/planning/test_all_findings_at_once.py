"""Forty mistakes are forty findings; any broken document gets findings or a plan, and never an exception."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_platform.findings import errors
from gpu_platform.planning import plan
from gpu_platform.settings.document import load, parse
from tests.stack_files import FIXTURES, PROJECT, THREE_LINES
from tests.stack_files import document as document_with

# Between them they use every section: the least, the sample of production, three vendors, and a fabric.
BASES = {
    "three lines": THREE_LINES,
    "prod": load(PROJECT / "Pulumi.prod.yaml").keys,
    "vendors": load(FIXTURES / "valid" / "three-vendors.yaml").keys,
    "fabric": load(FIXTURES / "valid" / "fabric-static.yaml").keys,
}


def test_forty_mistakes_are_forty_findings() -> None:
    nodes = {f"gpu-{index:02d}": {"rak": "r1"} for index in range(20)} | {f"GPU_{index:02d}": {} for index in range(19)}
    result = plan(document_with(inventory={"pools": {"h100": {"nodes": nodes}}}, cluster={"name": "lab"}))
    assert len(result.findings) == 40
    assert len({one.path for one in result.findings}) == 40
    assert result.plan is None


def test_rules_run_on_the_sections_that_can_be_read_while_others_are_broken() -> None:
    broken_keys = document_with(
        cluster={"nmae": "lab"}, inventory={"pools": {"a": {"nodes": ["n"]}, "b": {"nodes": ["n"]}}}
    )
    assert {one.rule for one in plan(broken_keys).findings} == {"CFG-001", "CFG-003", "CFG-008"}


WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.dates()
    | st.sampled_from(["v1.13.9", "h100-sxm-80gb", "active", "", "secure"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=8) | st.integers() | st.sampled_from(["secure", "nodes"]), inner, max_size=4)
    ),
    max_leaves=8,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        found += places(inner, (*path, key))
    return found


@st.composite
def broken(draw: st.DrawFn, base: dict[str, Any]) -> dict[str, Any]:
    """Return a document with one to three of its places replaced, removed, or given something beside them."""
    document = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 3))):
        if not places(document):
            break
        *parents, last = draw(st.sampled_from(places(document)))
        here: Any = document
        for part in parents:
            here = here[part]
        how = draw(st.sampled_from(["replace", "remove", "add"]))
        if how == "replace" or not isinstance(here, dict):
            here[last] = draw(WILD)
        elif how == "remove":
            del here[last]
        else:
            here[draw(st.text(max_size=6))] = draw(WILD)
    return document


@pytest.mark.parametrize("base", BASES.values(), ids=list(BASES))
@settings(max_examples=125, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_five_hundred_broken_documents_end_in_findings_or_a_plan(base: dict[str, Any], data: st.DataObject) -> None:
    check(data.draw(broken(base)))


def check(document: dict[str, Any]) -> None:
    """Plan a document that may be broken in any way."""
    result = plan(document)
    assert (result.plan is None) == bool(errors(result.findings))
    for one in result.findings:
        assert "Traceback" not in str(one)
        json.dumps(one.to_json())


@settings(max_examples=200, deadline=None)
@given(
    text=st.text(max_size=200)
    | st.sampled_from(["config:", "[]", "a: &a [*a]", "!!python/object:x.y {}", "? [a]\n: b"])
)
def test_any_text_is_findings_or_a_document(text: str) -> None:
    read = parse(text, FIXTURES / "some.yaml")
    assert read.findings or read.keys


def test_a_mutated_valid_file_that_is_yaml_again_never_raises() -> None:
    for path in FIXTURES.glob("valid/*.yaml"):
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
        for key in list(content["config"]):
            changed = {**content["config"], key: None}
            plan({name.removeprefix("gpu-platform:"): value for name, value in changed.items()})
