"""`make demo`: the path of a platform engineer from nothing to published GPUs, on this machine alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from sandbox.errors import SandboxError
from sandbox.kube import Kube, until
from sandbox.status import as_text, handed_out

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from sandbox.state import State

STACK = "sandbox"
SCHEMATIC = "extensions.talos.dev/schematic"


def demo(directory: Path) -> None:
    """Build, start, `pulumi up`, let the machines boot what the stack says, show what came of it.

    Raises SandboxError when a step fails; the sandbox stays up, so that a person can look.
    """
    from sandbox import factory, overlay, stacks
    from sandbox.build import run
    from sandbox.devices.boot import boot
    from sandbox.environment import environment
    from sandbox.lifecycle import up
    from sandbox.state import PROJECT

    piped = not sys.stdout.isatty()
    # Nobody sees a pipe's width, and an ID that is broken in two cannot be copied.
    console = Console(highlight=False, soft_wrap=piped, width=160 if piped else None)
    step = _Steps(console)
    step("engines", lambda: run(console=console))
    state: State = step("sandbox", lambda: up(directory, PROJECT / f"Pulumi.{STACK}.yaml"))
    file = overlay.write(state, STACK)
    stacks.create(state, STACK, file)
    pulumi = _Pulumi(environment(state), file, PROJECT, console)
    step("pulumi up", pulumi.up)
    outputs = pulumi.outputs()
    kube = Kube.of(state)
    step("machines boot their images", lambda: boot(kube, outputs, factory.url(state)))
    step("GPUs are published", lambda: until("GPUs", lambda: _published(kube, outputs), timeout=30))
    console.print(_images(outputs))
    console.print()
    console.print(_nodes(kube, outputs))
    console.print(f"\nready after {step.total():.0f} s. Look around:\n")
    for line in (
        "python -m sandbox status                  what runs, and every node",
        'eval "$(python -m sandbox env)"           pulumi, kubeconfig and backend of the sandbox in your shell',
        f'pulumi preview --stack {STACK} --config-file "$(python -m sandbox stack-file {STACK})"',
        f"pulumi stack --stack {STACK}             the resources, and the outputs that other stacks read",
        f"python -m gpu_platform explain {STACK}   what the stack file means",
        "python -m sandbox down                    stop everything",
    ):
        console.print(f"  {line}")


class _Steps:
    """Runs one step after the other and says how long each took."""

    def __init__(self, console: Console) -> None:
        self._console, self._began = console, time.monotonic()

    def __call__(self, title: str, act: Callable[[], Any]) -> Any:
        self._console.rule(f"[bold]{title}", align="left")
        began = time.monotonic()
        result = act()
        self._console.print(f"{title}: {time.monotonic() - began:.1f} s", style="green")
        return result

    def total(self) -> float:
        return time.monotonic() - self._began


class _Pulumi:
    """The project's own program, on the sandbox's copy of the stack file."""

    def __init__(self, env: dict[str, str], file: Path, project: Path, console: Console) -> None:
        self._env, self._project, self._console = {**os.environ, **env}, project, console
        self._file = file
        self._where = ["--stack", STACK, "--config-file", str(file), "--non-interactive"]

    def up(self) -> None:
        self._console.print(
            f"$ pulumi up --stack {STACK} --config-file {self._file} --yes", style="bold", soft_wrap=True
        )
        if self._run("up", "--yes", "--skip-preview", "--suppress-outputs", *self._where):
            raise SandboxError("pulumi up failed: its last lines say why; mend it and run `make demo` again")

    def outputs(self) -> dict[str, Any]:
        words = ["pulumi", "stack", "output", "--stack", STACK, "--json", "--non-interactive"]
        done = subprocess.run(words, env=self._env, cwd=self._project, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SandboxError(f"pulumi stack output failed: {done.stderr.strip()}")
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def _run(self, *arguments: str) -> int:
        words = ["pulumi", *arguments]
        return subprocess.run(words, env=self._env, cwd=self._project, stdin=subprocess.DEVNULL, check=False).returncode


def _published(kube: Kube, outputs: dict[str, Any]) -> bool:
    """Tell whether every node that boots an image and has cards hands them out."""
    wanted = {name: node["resources"] for name, node in outputs["nodes"].items() if node["installer"]}
    have = {node["metadata"]["name"]: handed_out(node) for node in kube.items("v1", "nodes")}
    return all(have.get(name, {}) == counts for name, counts in wanted.items())


def _images(outputs: dict[str, Any]) -> Table:
    """Return the table of image classes with what identifies each."""
    table = Table(title="images", title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, image in outputs["imageClasses"].items():
        table.add_row(name, f"schematic {image['schematicId']}")
        table.add_row("", f"installer {image['installer']}")
    return table


def _nodes(kube: Kube, outputs: dict[str, Any]) -> Table:
    """Return the table of nodes: what the stack says of each, and what the cluster hands out."""
    table = Table(title="nodes", title_justify="left", box=None, padding=(0, 2, 0, 0))
    for column in ("node", "state", "image", "schematic", "driver", "hands out"):
        table.add_column(column, no_wrap=True)
    live = {node["metadata"]["name"]: node for node in kube.items("v1", "nodes")}
    for name, node in outputs["nodes"].items():
        image = outputs["imageClasses"].get(node["imageClass"] or "") or {"schematicId": "", "driver": None}
        booted = live.get(name, {}).get("metadata", {}).get("annotations", {}).get(SCHEMATIC, "")
        table.add_row(
            name,
            node["state"],
            node["imageClass"] or "none",
            booted[:12],
            (image["driver"] or {}).get("version") or "",
            as_text(handed_out(live[name])) if name in live else "not in the cluster",
        )
    return table
