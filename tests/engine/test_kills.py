"""pulumi is killed in the middle of an `up`: README.md's way out works."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import psutil
import pytest

from sandbox.kube import ApiError, until

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.kube import Kube
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

NAMESPACES = {"nfd": "node-feature-discovery", "gpu-operator": "gpu-operator"}


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill pulumi and its plugins, which have process groups of their own."""
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for one in family:
        one.kill()
    process.wait()


def records(kube: Kube, namespace: str) -> list[str]:
    """Return the names of Helm's records of releases in a namespace."""
    try:
        secrets = kube.items("v1", "secrets", namespace)
    except ApiError:
        return []
    return [one["metadata"]["name"] for one in secrets if one["type"] == "helm.sh/release.v1"]


def mend(stack: Stack, kube: Kube) -> None:
    """Do what README.md says after a kill, step by step, until an `up` has succeeded."""
    stack.run("cancel", "--yes", program=False).ok()
    stack.run("refresh", "--yes", "--skip-preview", "--clear-pending-creates").ok()
    told = stack.up().text
    for resource in re.findall(r"Release \((\S+)\):\s+error: [^\n]*cannot re-use a name", told):
        space = NAMESPACES[resource]  # the release has the same name
        for name in records(kube, space):
            kube.delete("v1", "secrets", space, name)
    stack.up().ok()


def test_a_killed_up_is_mended_as_the_readme_says(make_stack: Callable[[str], Stack], kube: Kube) -> None:
    stack = make_stack("killed")
    words, env = stack.words("up", "--yes", "--skip-preview"), stack.environment()
    sink = subprocess.DEVNULL
    process = subprocess.Popen(
        words, cwd=stack.project, env={**os.environ, **env}, stdin=sink, stdout=sink, stderr=sink
    )
    until("the first release", lambda: records(kube, "node-feature-discovery"), timeout=60, every=0.02)
    kill_all(process)
    assert "locked" in stack.up().failed().text
    mend(stack, kube)
    assert set(stack.up().ok().changes) == {"unchanged"}
    stack.destroy().ok()
