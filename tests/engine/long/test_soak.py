"""The same again and again: up, nothing to do, destroy, nothing left; and a kill at every stage of an up."""

from __future__ import annotations

import os
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from tests.engine.test_kills import kill_all, mend

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.kube import Kube
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.long

ROUNDS = 10
KILLED_AFTER_SECONDS = (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 7.0, 9.0)


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack]) -> Stack:
    return make_stack("soak")


def namespaces(kube: Kube) -> set[str]:
    return {one["metadata"]["name"] for one in kube.items("v1", "namespaces")}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("round_", range(ROUNDS))
def test_up_and_destroy_leave_what_they_found(stack: Stack, kube: Kube, round_: int) -> None:
    before = namespaces(kube)
    stack.up().ok()
    assert set(stack.up().ok().changes) == {"unchanged"}
    stack.destroy().ok()
    assert stack.resources() == []
    assert namespaces(kube) == before


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seconds", KILLED_AFTER_SECONDS)
def test_an_up_killed_at_any_moment_is_mended_as_the_readme_says(stack: Stack, kube: Kube, seconds: float) -> None:
    sink = subprocess.DEVNULL
    env = {**os.environ, **stack.environment()}
    words = stack.words("up", "--yes", "--skip-preview")
    process = subprocess.Popen(words, cwd=stack.project, env=env, stdin=sink, stdout=sink, stderr=sink)
    time.sleep(seconds)
    if process.poll() is None:  # a fast machine may have finished
        kill_all(process)
        mend(stack, kube)
    assert set(stack.up().ok().changes) == {"unchanged"}
    stack.destroy().ok()
    assert stack.resources() == []
