"""Changes of images on the real engine: a preview shows what belongs to them, and refuses what no upgrade can do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from sandbox import factory

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

POOLS: dict[str, Any] = {
    "train": {"gpu": {"model": "h100-sxm-80gb"}, "nodes": ["gpu-01", "gpu-02"]},
    "amd": {"gpu": {"model": "mi300x-192gb"}, "nodes": ["amd-01"]},
    "plain": {"nodes": ["cpu-01"]},
}


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack]) -> Stack:
    """A stack of phase image with three classes, up."""
    made = make_stack("changes")
    config = made.config()
    config["gpu-platform:cluster"]["phase"] = "image"
    made.write({**config, "gpu-platform:inventory": {"pools": POOLS}}).up().ok()
    return made


def preview(stack: Stack, pools: dict[str, Any], image: dict[str, Any] | None = None) -> str:
    """Return what a preview prints of changed pools; the stack file stays as it was."""
    kept = stack.config()
    section = {**kept["gpu-platform:image"], **(image or {})}
    stack.write({**kept, "gpu-platform:inventory": {"pools": pools}, "gpu-platform:image": section})
    try:
        done = stack.preview("--diff")
    finally:
        stack.write(kept)
    assert "Traceback" not in done.text
    return done.text


def touched(text: str) -> dict[str, str]:
    """Return each schematic that a preview touches, with the sign that the engine prints before it."""
    found = re.findall(r"([+~-]) pulumi-python:dynamic/gpu-platform:Schematic: \(\w+\)[^=]*?::Schematic::(\S+)\]", text)
    return {name: sign for sign, name in found} or _by_urn(text)


def _by_urn(text: str) -> dict[str, str]:
    lines = text.splitlines()
    return {
        urn[1]: sign[1]
        for index, line in enumerate(lines)
        if (sign := re.match(r"\s*([+~-]) pulumi-python:dynamic/gpu-platform:Schematic:", line))
        for later in lines[index : index + 3]
        if (urn := re.search(r"Schematic::(\S+?)\]", later))
    }


def renamed(old: str, new: str) -> dict[str, Any]:
    return {new if name == old else name: pool for name, pool in POOLS.items()}


def test_a_second_up_changes_nothing(stack: Stack) -> None:
    assert set(stack.up().ok().changes) == {"unchanged"}
    assert touched(preview(stack, POOLS)) == {}


def test_a_class_that_is_renamed_is_one_more_and_one_less(stack: Stack) -> None:
    assert touched(preview(stack, renamed("train", "training"))) == {"training": "+", "train": "-"}


def test_a_class_that_is_split_is_one_more(stack: Stack) -> None:
    split = {
        **POOLS,
        "train": {**POOLS["train"], "nodes": ["gpu-01"]},
        "serve": {**POOLS["train"], "nodes": ["gpu-02"]},
    }
    assert touched(preview(stack, split)) == {"serve": "+"}


def test_a_class_that_is_removed_is_one_less(stack: Stack) -> None:
    assert touched(preview(stack, {name: pool for name, pool in POOLS.items() if name != "amd"})) == {"amd": "-"}


def test_a_changed_argument_changes_one_class_in_place(stack: Stack) -> None:
    text = preview(stack, {**POOLS, "plain": {**POOLS["plain"], "image": {"kernelArgs": ["iommu=pt"]}}})
    assert touched(text) == {"plain": "~"}


def test_a_rollout_adds_a_class_and_says_which_driver_it_brings(stack: Stack) -> None:
    nodes = {"gpu-01": {"talosVersion": "v1.13.8"}, "gpu-02": {}}
    assert touched(preview(stack, {**POOLS, "train": {**POOLS["train"], "nodes": nodes}})) == {"train-v1.13.8": "+"}
    text = preview(stack, {**POOLS, "train": {**POOLS["train"], "talosVersion": "v1.13.8"}})
    assert touched(text) == {"train": "~"}
    assert "driver 595.91.07 becomes 595.71.05 (Talos v1.13.9 to v1.13.8)" in text


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"image": {"secureBoot": {}}}, "secure boot goes on, which no upgrade can do"),
        ({"talosVersion": "v1.11.6"}, "Talos v1.13.9 to v1.11.6 skips a minor"),
    ],
)
def test_what_no_upgrade_can_do_fails_the_preview(stack: Stack, change: dict[str, Any], says: str) -> None:
    changed = {**POOLS["plain"], **change}
    assert says in preview(stack, {**POOLS, "plain": changed})
    afresh = {**changed, "image": {**changed.get("image", {}), "reinstall": True}}
    assert touched(preview(stack, {**POOLS, "plain": afresh})) == {"plain": "~"}


def test_prewarming_exports_the_digests_and_then_changes_nothing(stack: Stack, sandbox: State) -> None:
    config = stack.config()
    stack.write({**config, "gpu-platform:image": {**config["gpu-platform:image"], "prewarm": True}}).up().ok()
    digests = stack.outputs()["installerDigests"]
    assert set(digests) == set(POOLS)
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", one) for one in digests.values())
    assert set(stack.up().ok().changes) == {"unchanged"}


def test_offline_asks_the_factory_nothing_and_says_so(
    make_stack: Callable[[str], Stack], healthy_factory: State
) -> None:
    stack = make_stack("offline")
    config = stack.config()
    config["gpu-platform:cluster"]["phase"] = "image"
    config["gpu-platform:image"]["factory"]["mode"] = "offline"
    stack.write({**config, "gpu-platform:inventory": {"pools": POOLS}})
    log = healthy_factory.logs / "factory-proxy.log"
    factory.set_fault(healthy_factory, "500")
    before = len(log.read_text().splitlines())
    for done in (stack.preview(), stack.up(), stack.refresh(), stack.destroy()):
        assert "IMG-022 image.factory.mode" in done.ok().text or "refresh" in done.text.lower()
    assert log.read_text().splitlines()[before:] == []
