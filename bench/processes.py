"""Processes measured from outside: wall time in turns, and peak memory."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bench.figures import CouldNotRunError, Figure

PROJECT = Path(__file__).resolve().parent.parent
RUNS = 9
LIMIT_SECONDS = 120

# A process inherits the peak of the one that starts it, and ours is large: this one, without site-packages, is not.
_WATCHER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def python(*arguments: str) -> list[str]:
    """Return the command that runs this interpreter with `arguments`."""
    return [sys.executable, *arguments]


def run(command: list[str]) -> str:
    """Run a command in the project's folder to its end and return what it printed."""
    try:
        done = subprocess.run(
            command, cwd=PROJECT, check=False, capture_output=True, encoding="utf-8", timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise CouldNotRunError(f"{' '.join(command[1:4])} ran longer than {LIMIT_SECONDS} s") from None
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise CouldNotRunError(f"{' '.join(command[1:4])} ended with {done.returncode}: {said}")
    return done.stdout


def in_turns(commands: dict[str, list[str]], runs: int = RUNS) -> dict[str, float]:
    """Return the median wall seconds of each command.

    They run A B A B after one warm-up each, so that whatever else the machine does falls on all alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for command in commands.values():
        run(command)
    for _ in range(runs):
        for name, command in commands.items():
            start = time.perf_counter()
            run(command)
            seconds[name].append(time.perf_counter() - start)
    return {name: median(taken) for name, taken in seconds.items()}


def ratio(what: str, ours: float, theirs: float, bar: float) -> Figure:
    """Return the figure of how much longer ours takes than theirs."""
    return Figure(what, ours / theirs, "x", bar, f"{ours:.3f} s to {theirs:.3f} s")


def peak_megabytes(command: list[str]) -> float:
    """Return the largest resident memory that a command ever had."""
    said = run(python("-I", "-S", "-c", _WATCHER, *command))
    unit = 1 if sys.platform == "darwin" else 1024
    return int(said.split()[-1]) * unit / 1e6
