"""Stacks in the sandbox's backend, whose stack files lie in the sandbox and never in the project."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from sandbox.environment import environment
from sandbox.errors import SandboxError
from sandbox.state import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.state import State


def create(state: State, name: str, file: Path, project: Path = PROJECT) -> None:
    """Make the stack `name` of `project` unless it is there; pulumi puts the salt of its secrets into `file`.

    It writes beside the nearest Pulumi.yaml and takes no other place: so the file's directory gets a copy of that.
    """
    shutil.copy(project / "Pulumi.yaml", file.parent / "Pulumi.yaml")
    words = ["pulumi", "stack", "select", "--create", "--stack", name, "--non-interactive"]
    env = {**os.environ, **environment(state)}
    done = subprocess.run(
        words, cwd=file.parent, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SandboxError(f"pulumi could not make the stack {name}: {done.stderr.strip()}")
