"""What is no preview is said to be none, whatever is in it."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_platform.reports.review import ReviewError, as_markdown, read

STEP: dict[str, Any] = {
    "op": "update",
    "urn": "urn:pulumi:lab::gpu-platform::kubernetes:helm.sh/v3:Release::nfd",
    "oldState": {"inputs": {"values": {"a": 1}}},
    "newState": {"inputs": {"values": {"a": 2}}},
    "detailedDiff": {"values.a": {"kind": "update"}},
}


def test_a_step_shows_its_difference() -> None:
    text = as_markdown(read(json.dumps({"config": {}, "steps": [STEP]})))
    assert "changed `kubernetes:helm.sh/v3:Release` **nfd**: `values.a`: `1` → `2`" in text


@pytest.mark.parametrize(
    "change",
    [
        {"urn": 5},
        {"urn": "a::b"},
        {"op": None},
        {"oldState": [1]},
        {"newState": {"inputs": [1]}},
        {"detailedDiff": "x"},
    ],
)
def test_a_step_of_another_form_is_no_preview(change: dict[str, Any]) -> None:
    with pytest.raises(ReviewError, match="its steps are not those"):
        read(json.dumps({"config": {}, "steps": [{**STEP, **change}]}))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["config", "steps", "op", "urn", "oldState", "newState", "inputs", "outputs", "diagnostics", "severity"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(content=JSON, steps=JSON, diagnostics=JSON)
def test_any_json_is_a_review_or_a_sentence(content: Any, steps: Any, diagnostics: Any) -> None:
    for one in (content, {"config": {}, "steps": steps, "diagnostics": diagnostics}):
        with contextlib.suppress(ReviewError):
            as_markdown(read(json.dumps(one)))
