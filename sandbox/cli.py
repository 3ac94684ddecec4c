"""`python -m sandbox COMMAND`: build, start, look at and stop the real engines on loopback."""

from __future__ import annotations

import json
import shlex
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from sandbox.errors import SandboxError
from sandbox.state import PROJECT, State, default_directory

app = typer.Typer(no_args_is_help=True, add_completion=False, help=__doc__, pretty_exceptions_enable=False)

Directory = Annotated[Path, typer.Option("--dir", help="where this sandbox lives", default_factory=default_directory)]


@app.command()
def build(
    engines: Annotated[list[str] | None, typer.Argument(help="engines to build, all by default")] = None,
    keep_cache: Annotated[bool, typer.Option(help="keep compiled packages for a next build")] = False,
) -> None:
    """Build the engines that are missing, once a machine."""
    from sandbox.build import run

    run(engines or None, keep_cache=keep_cache)


@app.command()
def up(
    directory: Directory,
    stack_file: Annotated[Path, typer.Option(help="whose inventory the nodes are")] = PROJECT / "Pulumi.sandbox.yaml",
) -> None:
    """Start the sandbox, or repair it; what runs already is kept."""
    from sandbox.lifecycle import up as start

    state = start(directory, stack_file)
    sys.stdout.write(f"up: API server on 127.0.0.1:{state.ports['api']}, everything below {directory}\n")


@app.command()
def down(directory: Directory) -> None:
    """Stop everything that this sandbox started; logs stay."""
    from sandbox.lifecycle import down as stop

    sys.stdout.write(f"down: {stop(directory)} processes stopped\n")


@app.command()
def status(directory: Directory, as_json: Annotated[bool, typer.Option("--json")] = False) -> None:
    """Show every process and every node, with the reason why its GPUs are there or not; 1 when a process is down."""
    from sandbox.status import nodes, processes, show

    state = State.load(directory)
    if not state.processes:
        raise SandboxError(f"there is no sandbox in {directory}: run `python -m sandbox up`")
    if as_json:
        sys.stdout.write(json.dumps({"processes": processes(state), "nodes": nodes(state)}, indent=2) + "\n")
    else:
        show(state)
    raise typer.Exit(0 if all(state.runs(name) for name in state.processes) else 1)


@app.command()
def env(directory: Directory) -> None:
    """Print what a shell has to export: eval "$(python -m sandbox env)"."""
    from sandbox.environment import environment

    for name, value in environment(State.load(directory)).items():
        sys.stdout.write(f"export {name}={shlex.quote(value)}\n")


@app.command()
def logs(
    directory: Directory,
    name: Annotated[str | None, typer.Argument(help="a process; all are named when left out")] = None,
    lines: Annotated[int, typer.Option("-n", help="how many of the last lines")] = 50,
) -> None:
    """Print the end of a process's log."""
    known = sorted(path.stem for path in State(directory).logs.glob("*.log"))
    if name is None:
        sys.stdout.write("\n".join(known) + "\n")
    elif name not in known:
        raise SandboxError(f"there is no log of {name}: choose from {', '.join(known) or '(none yet)'}")
    else:
        text = (State(directory).logs / f"{name}.log").read_text(errors="replace")
        sys.stdout.write("\n".join(text.splitlines()[-lines:]) + "\n")


@app.command("stack-file")
def stack_file(directory: Directory, stack: Annotated[str, typer.Argument(help="a stack or a path")]) -> None:
    """Write a stack file that runs against this sandbox, for pulumi's --config-file, and print where it is."""
    from sandbox.overlay import write

    sys.stdout.write(f"{write(_running(directory), stack)}\n")


@app.command()
def boot(directory: Directory, outputs: Annotated[Path, typer.Argument(help="pulumi stack output --json")]) -> None:
    """Let the machines install and boot what a stack's outputs say."""
    from sandbox import factory
    from sandbox.devices.boot import boot as start
    from sandbox.kube import Kube

    state = _running(directory)
    try:
        exported = json.loads(sys.stdin.read() if str(outputs) == "-" else outputs.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SandboxError(f"{outputs} holds no stack outputs ({error})") from None
    for note in start(Kube.of(state), exported, factory.url(state)):
        sys.stdout.write(f"{note}\n")


@app.command()
def fault(directory: Directory, mode: Annotated[str, typer.Argument(help="none, down, 500, wrong-id, ...")]) -> None:
    """Make the Image Factory misbehave from the next request on; `none` ends it."""
    from sandbox import factory

    factory.set_fault(_running(directory), mode)


@app.command()
def kill(directory: Directory, name: Annotated[str, typer.Argument(help="a process")]) -> None:
    """Kill one process without warning; `up` repairs what is broken."""
    from sandbox.processes import end

    state = _running(directory)
    if name not in state.processes:
        raise SandboxError(f"there is no process {name}: choose from {', '.join(state.processes)}")
    end(state.processes[name], sig=signal.SIGKILL)


@app.command()
def demo(directory: Directory) -> None:
    """Everything from nothing to published GPUs, with the project's own `pulumi up`."""
    from sandbox.demo import demo as run

    run(directory)


def _running(directory: Path) -> State:
    state = State.load(directory)
    if not state.ready:
        raise SandboxError("this sandbox is not up: run `python -m sandbox up`")
    return state


def main() -> int:
    """Run the command line; what goes wrong is one sentence and status 2."""
    try:
        app(prog_name="python -m sandbox")
    except SandboxError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0
