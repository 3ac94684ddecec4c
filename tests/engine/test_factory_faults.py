"""A sick Image Factory at preview, up and refresh of a stack that needs no cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox import factory

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

POOLS = {"pools": {"h100": {"gpu": {"model": "h100-sxm-80gb"}, "nodes": ["gpu-01"]}}}


@pytest.fixture(scope="module")
def images(make_stack: Callable[[str], Stack]) -> Stack:
    """A stack of phase image with one class."""
    stack = make_stack("images")
    config = stack.config()
    config["gpu-platform:cluster"]["phase"] = "image"
    return stack.write({**config, "gpu-platform:inventory": POOLS})


def schematics(stack: Stack) -> list[str]:
    return [one["urn"].rsplit("::", 1)[-1] for one in stack.resources() if one["type"].endswith("Schematic")]


@pytest.mark.parametrize("mode", ["down", "500", "wrong-id", "html", "unauthorized"])
def test_a_preview_never_fails_for_the_factory(images: Stack, healthy_factory: State, mode: str) -> None:
    factory.set_fault(healthy_factory, mode)
    done = images.preview().ok()
    told = [line for line in done.text.splitlines() if line.startswith("    warning: extensions are not checked")]
    assert len(told) == (0 if mode == "wrong-id" else 1)
    assert "Traceback" not in done.text


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("down", "cannot be reached"),
        ("500", "answered 500"),
        ("wrong-id", "the preview said"),
        ("owner", "write image.factory.owner: acme"),
    ],
)
def test_an_up_fails_in_a_sentence_and_writes_nothing_half(
    images: Stack, healthy_factory: State, mode: str, says: str
) -> None:
    factory.set_fault(healthy_factory, mode)
    done = images.up().failed()
    assert says in done.text
    assert "site-packages" not in done.text
    assert schematics(images) == []


def test_up_again_goes_on_when_the_factory_is_back_and_refresh_heals(images: Stack, healthy_factory: State) -> None:
    images.up().ok()
    assert schematics(images) == ["h100"]
    factory.set_fault(healthy_factory, "500")
    done = images.refresh().failed()
    assert "the Image Factory 127.0.0.1:" in done.text
    assert schematics(images) == ["h100"]
    factory.set_fault(healthy_factory, "lost")
    assert set(images.refresh().ok().changes) == {"unchanged"}
    assert set(images.up().ok().changes) == {"unchanged"}


def test_an_extension_that_this_factory_lacks_fails_the_preview_with_its_pool(images: Stack) -> None:
    config = images.config()
    changed = {**config, "gpu-platform:image": {**config["gpu-platform:image"], "extensions": ["siderolabs/zfs"]}}
    images.write(changed)
    try:
        done = images.preview().failed()
    finally:
        images.write(config)
    assert "inventory.pools.h100: Talos v1.13.9 has no extension siderolabs/zfs at this factory" in done.text
