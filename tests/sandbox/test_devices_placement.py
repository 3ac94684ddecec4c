"""Node selectors and required affinity, as the scheduler reads them."""

import pytest

from sandbox.devices.placement import selected
from tests.sandbox.device_objects import Object

LABELS = {"a": "1", "n": "8", "word": "x"}


def affine(*terms: Object) -> Object:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return {"affinity": {"nodeAffinity": required}}


def term(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("pod", "chosen"),
    [
        ({}, True),
        ({"nodeSelector": {"a": "1"}}, True),
        ({"nodeSelector": {"a": "2"}}, False),
        (affine(term("a", "In", "1", "2")), True),
        (affine(term("a", "NotIn", "1")), False),
        (affine(term("b", "NotIn", "1")), True),
        (affine(term("b", "Exists")), False),
        (affine(term("b", "DoesNotExist")), True),
        (affine(term("n", "Gt", "7")), True),
        (affine(term("n", "Gt", "8")), False),
        (affine(term("n", "Lt", "9")), True),
        (affine(term("word", "Lt", "9")), False),
        (affine(term("b", "Gt", "1")), False),
        (affine(term("a", "In", "2"), term("a", "In", "1")), True),
        (affine({}), False),
    ],
)
def test_what_a_pod_chooses(pod: Object, chosen: bool) -> None:
    assert selected(pod, LABELS) == chosen
