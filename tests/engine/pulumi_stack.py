"""Drive the real pulumi CLI on one stack, as a person would."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import yaml

from sandbox import stacks
from sandbox.environment import environment
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from pathlib import Path

    from sandbox.state import State

LIMIT_SECONDS = 300


@dataclass(frozen=True)
class Done:
    """What one command printed, and how it ended."""

    code: int
    text: str

    @property
    def changes(self) -> dict[str, int]:
        """The summary: created, updated, deleted, replaced, unchanged, as far as the CLI printed them."""
        return {word: int(count) for count, word in re.findall(r"^\s+[-+~±]*\s*(\d+) (\w+)", self.text, re.MULTILINE)}

    @property
    def touched(self) -> list[str]:
        """Sign and type of every resource that `preview --diff` names, without outputs and the stack itself."""
        found = re.findall(r"^\s*([+~-]{1,2}) (?:kubernetes|pulumi-python):(\S+?):?(?: \(|$)", self.text, re.MULTILINE)
        return sorted(f"{sign} {kind}" for sign, kind in found)

    def ok(self) -> Done:
        """Return itself when the command succeeded; else fail the test with everything it printed."""
        assert self.code == 0, self.text
        return self

    def failed(self) -> Done:
        """Return itself when the command failed in words; a traceback fails the test."""
        assert self.code != 0, self.text
        assert "Traceback" not in self.text, self.text
        return self


@dataclass
class Stack:
    """One stack with a stack file of its own in the sandbox's backend."""

    state: State
    name: str
    file: Path
    project: Path = PROJECT
    env: dict[str, str] = field(default_factory=dict)

    def write(self, config: dict[str, Any]) -> Stack:
        """Replace the stack's configuration, keeping the salt that pulumi put there."""
        content = yaml.safe_load(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
        self.file.write_text(yaml.safe_dump({**(content or {}), "config": config}), encoding="utf-8")
        return self

    def config(self) -> dict[str, Any]:
        """Return the stack's configuration as it stands in its file."""
        found: dict[str, Any] = yaml.safe_load(self.file.read_text(encoding="utf-8"))["config"]
        return found

    def create(self) -> Stack:
        """Make the stack in the backend."""
        stacks.create(self.state, self.name, self.file, self.project)
        return self

    def run(self, *arguments: str, where: bool = True, program: bool = True) -> Done:
        """Run one pulumi command and return what it printed on both streams."""
        done = subprocess.run(
            self.words(*arguments, where=where, program=program),
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
        return Done(done.returncode, done.stdout)

    def words(self, *arguments: str, where: bool = True, program: bool = True) -> list[str]:
        """Return the command line."""
        there = ["--stack", self.name] if where else []
        there += ["--config-file", str(self.file)] if where and program else []
        return ["pulumi", *arguments, *there, "--non-interactive"]

    def environment(self) -> dict[str, str]:
        """Return the environment of every command of this stack."""
        ours = {"PULUMI_ERROR_OUTPUT_STRING": "true", "NO_COLOR": "1", **self.env}
        return {**os.environ, **environment(self.state), "PYTHONPATH": self._python_path(), **ours}

    def _python_path(self) -> str:
        """The program's own package, where the project is a copy that has one; else this project's."""
        return str(self.project if (self.project / "gpu_platform").is_dir() else PROJECT)

    def up(self) -> Done:
        """`pulumi up`."""
        return self.run("up", "--yes", "--skip-preview")

    def preview(self, *arguments: str) -> Done:
        """`pulumi preview`."""
        return self.run("preview", *arguments)

    def preview_json(self) -> str:
        """What `pulumi preview --json` prints on standard output."""
        words = self.words("preview", "--json")
        done = subprocess.run(
            words,
            cwd=self.project,
            env=self.environment(),
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=True,
        )
        return done.stdout

    def refresh(self) -> Done:
        """`pulumi refresh`."""
        return self.run("refresh", "--yes", "--skip-preview")

    def destroy(self) -> Done:
        """`pulumi destroy --run-program`, which calls hooks."""
        return self.run("destroy", "--yes", "--skip-preview", "--run-program", "--suppress-outputs")

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs; secrets stay closed."""
        found: dict[str, Any] = json.loads(self.run("stack", "output", "--json", program=False).ok().text)
        return found

    def export(self) -> dict[str, Any]:
        """Return the whole state; secrets stay closed."""
        found: dict[str, Any] = json.loads(self.run("stack", "export", program=False).ok().text)
        return found

    def resources(self) -> list[dict[str, Any]]:
        """Return the resources in the state."""
        found: list[dict[str, Any]] = self.export()["deployment"].get("resources", [])
        return found

    def remove(self) -> None:
        """Forget the stack, whatever is in it."""
        self.run("cancel", "--yes", program=False)
        self.run("stack", "rm", "--yes", "--force", "--preserve-config", program=False)
