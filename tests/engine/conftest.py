"""One sandbox for all engine tests of a run, and stacks in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox import factory, overlay
from sandbox.build import ensure
from sandbox.kube import Kube
from sandbox.lifecycle import down, up
from tests.engine.pulumi_stack import Stack
from tests.engine.vendor_stack import vendor_stack
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.state import State


@pytest.fixture(scope="session")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[State]:
    """The loopback cluster, factory and device simulator."""
    ensure()
    directory = tmp_path_factory.mktemp("sandbox")
    yield up(directory, PROJECT / "Pulumi.sandbox.yaml")
    down(directory)


@pytest.fixture(scope="session")
def kube(sandbox: State) -> Kube:
    """A client with the rights of the cluster's admin."""
    return Kube.of(sandbox)


@pytest.fixture
def healthy_factory(sandbox: State) -> Iterator[State]:
    """A factory whose proxy lets everything through, before and after the test."""
    factory.set_fault(sandbox, "none")
    yield sandbox
    factory.set_fault(sandbox, "none")


@pytest.fixture(scope="module")
def make_stack(sandbox: State, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Stack]]:
    """A function that makes a stack with the sandbox's configuration; what it made is destroyed afterwards."""
    made: list[Stack] = []

    def make(name: str, base: str = "sandbox") -> Stack:
        stack = Stack(sandbox, name, tmp_path_factory.mktemp(name) / f"Pulumi.{name}.yaml")
        stack.write(overlay.config(sandbox, PROJECT / f"Pulumi.{base}.yaml")).create()
        made.append(stack)
        return stack

    yield make
    for stack in reversed(made):
        stack.destroy()
        stack.remove()


@pytest.fixture(scope="module")
def vendors(make_stack: Callable[[str], Stack], kube: Kube, sandbox: State) -> Iterator[Stack]:
    """A stack of three vendors, up, its machines booted."""
    with vendor_stack(make_stack("vendors"), kube, sandbox) as stack:
        yield stack
