"""The sandbox: idempotent, repaired after kills, side by side, on loopback alone, nothing left behind."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import psutil
import pytest

from sandbox.kube import Kube
from sandbox.lifecycle import down, up
from sandbox.processes import alive, end
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.state import State

pytestmark = pytest.mark.engine

STACK = PROJECT / "Pulumi.sandbox.yaml"


@pytest.fixture
def own(sandbox: State, tmp_path: Path) -> Iterator[State]:
    """A second sandbox beside the one that all tests share."""
    yield up(tmp_path / "own", STACK)
    down(tmp_path / "own")


def family(state: State) -> list[psutil.Process]:
    roots = [psutil.Process(process.pid) for process in state.processes.values()]
    return [*roots, *(child for root in roots for child in root.children(recursive=True))]


def test_every_socket_is_on_loopback(sandbox: State) -> None:
    connections = [one for process in family(sandbox) for one in process.net_connections("inet")]
    assert len([one for one in connections if one.status == psutil.CONN_LISTEN]) >= 9
    for one in connections:
        for address in filter(None, (one.laddr, one.raddr)):
            assert address.ip in {"127.0.0.1", "::1"}, one


def test_two_sandboxes_share_no_port_and_a_second_up_keeps_what_runs(own: State, sandbox: State) -> None:
    assert set(own.ports.values()).isdisjoint(sandbox.ports.values())
    began = time.monotonic()
    again = up(own.directory, STACK)
    assert time.monotonic() - began < 2
    assert again.processes == own.processes


@pytest.mark.parametrize("victim", ["kwok", "kube-apiserver", "registry", "etcd"])
def test_up_repairs_what_was_killed(own: State, victim: str) -> None:
    end(own.processes[victim], grace=0)
    repaired = up(own.directory, STACK)
    assert all(repaired.runs(name) for name in repaired.processes)
    assert len(Kube.of(repaired).items("v1", "nodes")) == 14


def test_down_leaves_nothing_running(own: State) -> None:
    processes = list(own.processes.values())
    down(own.directory)
    assert not [process.name for process in processes if alive(process)]
    assert {path.name for path in own.directory.iterdir()} <= {"logs", "lock"}
