"""Cards are cut as the stack file says: real API server and Helm, the simulated MIG manager, one label at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sandbox import factory
from sandbox.devices.boot import boot
from sandbox.kube import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

LAYOUTS: dict[str, Any] = {
    "serve": ["3g.40gb", "2g.20gb", "2g.20gb"],
    "small": ["1g.10gb", "1g.10gb", "1g.10gb", "1g.10gb", "3g.40gb"],
}
SERVE = {"nvidia.com/mig-3g.40gb": 8, "nvidia.com/mig-2g.20gb": 16}
SMALL = {"nvidia.com/mig-1g.10gb": 32, "nvidia.com/mig-3g.40gb": 8}
WHOLE = {"nvidia.com/gpu": 8}


def with_layouts(config: dict[str, Any], layouts: dict[str, Any], choices: dict[str, str]) -> dict[str, Any]:
    """Return a stack's configuration with a library, and layouts chosen by nodes of the training pool."""
    inventory = config["gpu-platform:inventory"]
    train = inventory["pools"]["h100-train"]
    nodes = {
        name: {**(node or {}), **({"mig": {"layout": choices[name]}} if name in choices else {})}
        for name, node in train["nodes"].items()
    }
    pools = {**inventory["pools"], "h100-train": {**train, "nodes": nodes}}
    return {
        **config,
        "gpu-platform:inventory": {**inventory, "pools": pools},
        "gpu-platform:gpu": {"mig": {"layouts": layouts}},
    }


@pytest.fixture(scope="module")
def plain(make_stack: Callable[[str], Stack]) -> tuple[Stack, dict[str, Any]]:
    stack = make_stack("mig")
    return stack, stack.config()


@pytest.fixture(scope="module")
def stack(plain: tuple[Stack, dict[str, Any]], kube: Kube, sandbox: State) -> Stack:
    """A stack whose first two training nodes are cut."""
    made, config = plain
    made.write(with_layouts(config, LAYOUTS, {"gpu-a-01": "serve", "gpu-a-02": "serve"})).up().ok()
    boot(kube, made.outputs(), factory.url(sandbox))
    return made


def devices(kube: Kube, name: str) -> dict[str, int]:
    allocatable = kube.get("v1", "nodes", None, name)["status"]["allocatable"]
    return {key: int(count) for key, count in allocatable.items() if key.startswith("nvidia.com/") and int(count)}


def wait_for(kube: Kube, name: str, expected: dict[str, int]) -> None:
    until(f"{expected} of {name}", lambda: devices(kube, name) == expected, timeout=60)


def test_nodes_hand_out_what_the_plan_says(stack: Stack, kube: Kube) -> None:
    for name, expected in {"gpu-a-01": SERVE, "gpu-a-02": SERVE, "gpu-a-03": WHOLE}.items():
        wait_for(kube, name, expected)
        assert stack.outputs()["nodes"][name]["resources"] == expected
    labels = kube.get("v1", "nodes", None, "gpu-a-01")["metadata"]["labels"]
    assert labels["nvidia.com/mig.config"] == stack.outputs()["nodes"]["gpu-a-01"]["migConfig"]
    assert labels["nvidia.com/mig.config.state"] == "success"


def test_a_second_up_changes_nothing(stack: Stack) -> None:
    assert set(stack.up().ok().changes) == {"unchanged"}


def test_moving_one_node_to_another_layout_is_one_patch(
    stack: Stack, plain: tuple[Stack, dict[str, Any]], kube: Kube
) -> None:
    stack.write(with_layouts(plain[1], LAYOUTS, {"gpu-a-01": "serve", "gpu-a-02": "small"}))
    assert stack.preview("--diff").ok().touched == ["~ core/v1:NodePatch"]
    stack.up().ok()
    wait_for(kube, "gpu-a-02", SMALL)
    wait_for(kube, "gpu-a-01", SERVE)


def test_a_layout_that_is_added_relabels_nothing(stack: Stack, plain: tuple[Stack, dict[str, Any]], kube: Kube) -> None:
    more = {**LAYOUTS, "big": ["7g.80gb"]}
    stack.write(with_layouts(plain[1], more, {"gpu-a-01": "serve", "gpu-a-02": "small"}))
    assert not [one for one in stack.preview("--diff").ok().touched if "NodePatch" in one]
    stack.up().ok()
    wait_for(kube, "gpu-a-01", SERVE)
    wait_for(kube, "gpu-a-02", SMALL)


def test_a_node_that_is_left_whole_again_loses_its_label_and_gets_its_cards(
    stack: Stack, plain: tuple[Stack, dict[str, Any]], kube: Kube
) -> None:
    stack.write(with_layouts(plain[1], LAYOUTS, {"gpu-a-01": "serve"})).up().ok()
    wait_for(kube, "gpu-a-02", WHOLE)
    assert "nvidia.com/mig.config" not in kube.get("v1", "nodes", None, "gpu-a-02")["metadata"]["labels"]


def test_destroy_leaves_the_nodes_and_takes_the_labels(stack: Stack, kube: Kube) -> None:
    before = {one["metadata"]["name"] for one in kube.items("v1", "nodes")}
    stack.destroy().ok()
    nodes = kube.items("v1", "nodes")
    assert {one["metadata"]["name"] for one in nodes} == before
    assert not [one for one in nodes if "nvidia.com/mig.config" in one["metadata"]["labels"]]
