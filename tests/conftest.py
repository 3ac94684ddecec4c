"""The ledger of the long tier: what passed for this commit and seed is not run again."""

from __future__ import annotations

import json
import random
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ledger", help="directory of results; cases that it has as passed are left out")
    parser.addoption("--seed", type=int, help="seed of generated cases; default the ledger's, else a new one")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("ledger"):
        config.pluginmanager.register(Ledger(Path(config.getoption("ledger")), config.getoption("seed")), "ledger")


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of generated cases: the ledger's, or a fixed one."""
    ledger = request.config.pluginmanager.get_plugin("ledger")
    return ledger.seed if isinstance(ledger, Ledger) else 20261201


class Ledger:
    """One file for each commit and seed, a JSON line for each case: its ID, outcome, and seconds."""

    def __init__(self, directory: Path, seed: int | None) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        kept = directory / "seed"
        chosen = seed if seed is not None else int(kept.read_text()) if kept.exists() else random.randrange(2**31)  # noqa: S311
        kept.write_text(f"{chosen}\n")
        self.seed = chosen
        self.file = directory / f"{_commit()}-{chosen}.jsonl"
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        records = [json.loads(line) for line in lines]
        self.passed = {one["case"] for one in records if one["outcome"] == "passed"}
        self.skipped_now = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        left = [one for one in items if one.nodeid not in self.passed]
        self.skipped_now = len(items) - len(left)
        items[:] = left

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        outcome = yield
        report = outcome.get_result()  # type: ignore[attr-defined]
        if call.when == "call" or report.failed:
            record = {"case": item.nodeid, "outcome": report.outcome, "seconds": round(call.duration, 1), "at": _now()}
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        text = f"seed {self.seed}, {self.skipped_now} cases had passed before; results in {self.file}"
        terminalreporter.write_line(text)


def _commit() -> str:
    """Return the commit of the clone; work that is not committed has a ledger of its own."""
    words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(words, cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S")
