"""What a sandbox is made of: one directory with ports, processes and logs."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.errors import SandboxError
from sandbox.processes import Process, alive, spawn

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parent.parent


def default_directory() -> Path:
    """Return $GPU_PLATFORM_SANDBOX, else .sandbox in the project: two clones have two sandboxes."""
    return Path(os.environ.get("GPU_PLATFORM_SANDBOX") or PROJECT / ".sandbox").absolute()


@dataclass
class State:
    """One sandbox: its directory, the ports that it chose, the processes that it started."""

    directory: Path
    ports: dict[str, int] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)
    ready: bool = False

    @classmethod
    def load(cls, directory: Path) -> State:
        """Return the sandbox in `directory`, an empty one when there is none."""
        try:
            content = json.loads((directory / "state.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls(directory)
        processes = {name: Process.from_json(record) for name, record in content["processes"].items()}
        return cls(directory, content["ports"], processes, content["ready"])

    def save(self) -> None:
        """Write the state file; a reader sees the old one or the new one."""
        self.directory.mkdir(parents=True, exist_ok=True)
        records = {name: process.to_json() for name, process in self.processes.items()}
        temporary = self.directory / ".state.json"
        temporary.write_text(json.dumps({"ports": self.ports, "processes": records, "ready": self.ready}, indent=1))
        temporary.replace(self.directory / "state.json")

    @property
    def logs(self) -> Path:
        """The directory with one log a process."""
        return self.directory / "logs"

    @property
    def pki(self) -> Path:
        """The directory with the cluster's certificates and keys."""
        return self.directory / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the cluster's admin."""
        return self.directory / "admin.kubeconfig"

    def spawn(self, name: str, *argv: str | Path, **keywords: Any) -> Process:
        """Start a process under `name` and remember it at once, so that a kill of ours leaves no orphan unknown."""
        self.processes[name] = spawn(name, argv, self.logs, **keywords)
        self.save()
        return self.processes[name]

    def runs(self, name: str) -> bool:
        """Tell whether the process `name` was started and still runs."""
        return name in self.processes and alive(self.processes[name])

    def check(self, name: str) -> None:
        """Raise a sentence with the end of its log when the process `name` has ended."""
        if self.runs(name):
            return
        log = self.logs / f"{name}.log"
        lines = log.read_text(errors="replace").splitlines()[-3:] if log.exists() else []
        raise SandboxError(f"{name} has ended: {' / '.join(lines) or 'without a word'}\nlog: {log}")


@contextlib.contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Hold the sandbox in `directory`, so that two commands on it come one after the other."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / "lock").open("w")
    except OSError as error:
        raise SandboxError(
            f"the sandbox directory {directory} cannot be written: {error.strerror}; choose one with --dir"
        ) from None
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
