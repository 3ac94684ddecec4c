"""A finding says where, what, and what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_platform.planning import plan
from tests.stack_files import document, pool


def only(keys: dict[str, Any]) -> str:
    found = plan(keys).findings
    assert len(found) == 1, [str(one) for one in found]
    return str(found[0])


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (
            document(cluster={"name": "lab", "talosVersion": "v1.13.9", "fase": "image"}),
            "error CFG-001 cluster.fase: unknown key; did you mean phase?",
        ),
        (
            document(cluster={"name": "lab", "talosVersion": "v1.13.9", "phase": "imgae"}),
            "error CFG-002 cluster.phase: 'imgae' is not among the choices; did you mean image?",
        ),
        (
            document(cluster={"name": "lab", "talosVersion": 1.1}),
            "error CFG-002 cluster.talosVersion: YAML reads 1.1 as a number and may drop digits; write it in quotes",
        ),
        (
            document(inventory=pool(nodes=["Gpu_01"])),
            (
                "error CFG-002 inventory.pools.h100.nodes.Gpu_01: "
                "'Gpu_01' is no node name (RFC 1123, lower case); write gpu-01"
            ),
        ),
        (
            document(inventory={"pools": {"a": {"nodes": ["n"]}, "b": {"nodes": ["n"]}}}),
            "error CFG-008 inventory.pools.b.nodes.n: node n is in pool a and in pool b; remove it from one of the two",
        ),
        (
            document(inventory=pool(gpu={"model": "H100-SXM"})),
            "error GPU-001 inventory.pools.h100.gpu.model: unknown GPU model 'H100-SXM'; did you mean h100-sxm-80gb?",
        ),
        (
            document(inventory=pool(gpu={"model": "h100-sxm-80gb", "perNode": "8"})),
            (
                "error CFG-002 inventory.pools.h100.gpu.perNode: input should be a valid integer; "
                "write a whole number without quotes"
            ),
        ),
        (
            document(operators={"gpu-operator": {"manage": "existing"}}),
            (
                "error CFG-015 operators.gpu-operator: gpu-operator exists already, in a version that nobody knows; "
                "write version:, such as v26.7.0"
            ),
        ),
    ],
)
def test_one_line_tells_everything(keys: dict[str, Any], line: str) -> None:
    assert only(keys) == line


def test_a_secret_never_reaches_a_finding() -> None:
    keys = document(factoryToken="hunter2-canary", kubeconfig={"clusters": "hunter2-canary"})
    text = "\n".join(str(one) for one in plan(keys).findings)
    assert text.count("CFG-009") == 2
    assert "hunter2-canary" not in text
