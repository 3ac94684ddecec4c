"""Start, watch and end processes by pid and start time, never by name."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Process:
    """One process that the sandbox started; pid and start time together name it for good."""

    name: str
    pid: int
    ticks: int
    argv: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    clean: bool = False
    cwd: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record as it stands in the sandbox's state file."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Process:
        """Return the process that `record` describes."""
        return cls(**{**record, "argv": tuple(record["argv"])})


def free_ports(count: int) -> list[int]:
    """Return `count` different free ports of 127.0.0.1, all bound at once so that none comes twice.

    They lie below the kernel's ephemeral range: a client that calls a server which is just down can be given that very
    port as its own end of the connection, and the server's next start then finds its address in use.
    """
    below = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text(encoding="ascii").split()[0])
    candidates = random.SystemRandom().sample(range(min(10000, below // 2), below), k=min(below // 2, 2000))
    with contextlib.ExitStack() as held:
        ports: list[int] = []
        for port in candidates:
            if len(ports) == count:
                break
            one = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                one.bind(("127.0.0.1", port))
                ports.append(port)
    if len(ports) < count:
        raise SandboxError(f"only {len(ports)} of {count} free ports found on 127.0.0.1 below {below}")
    return ports


def start_ticks(pid: int) -> int:
    """Return the start time of `pid` in clock ticks since boot; 0 when it has ended, zombies included."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    fields = stat.rsplit(")", 1)[1].split()
    return 0 if fields[0] == "Z" else int(fields[19])


def spawn(
    name: str,
    argv: Sequence[str | Path],
    logs: Path,
    *,
    env: Mapping[str, str] | None = None,
    clean: bool = False,
    cwd: Path | None = None,
) -> Process:
    """Start `argv` in a session of its own, its output in `logs`/`name`.log; `clean` drops the caller's environment."""
    logs.mkdir(parents=True, exist_ok=True)
    words = tuple(str(word) for word in argv)
    extra = dict(env or {})
    with (logs / f"{name}.log").open("ab") as log:
        child = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=cwd,
            env=extra if clean else {**os.environ, **extra},
            start_new_session=True,
        )
    ticks = start_ticks(child.pid)
    child.returncode = 0  # the record outlives this object: nobody shall warn that the child still runs
    return Process(name, child.pid, ticks, words, extra, clean, str(cwd) if cwd else None)


def restart(process: Process, logs: Path) -> Process:
    """End `process` and start the same command line again."""
    end(process)
    return spawn(
        process.name,
        process.argv,
        logs,
        env=process.env,
        clean=process.clean,
        cwd=Path(process.cwd) if process.cwd else None,
    )


def alive(process: Process) -> bool:
    """Tell whether exactly this process still runs, reaping it where it is our own child."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(process.pid, os.WNOHANG)
    return process.ticks != 0 and start_ticks(process.pid) == process.ticks


def end(process: Process, *, sig: signal.Signals = signal.SIGTERM, grace: float = 5.0) -> None:
    """Send `sig`, wait `grace` seconds, then SIGKILL; a process that has already ended is fine."""
    if not alive(process):
        return
    os.kill(process.pid, sig)
    if not _gone(process, grace):
        os.kill(process.pid, signal.SIGKILL)
        _gone(process, 5.0)


def _gone(process: Process, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while alive(process):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
