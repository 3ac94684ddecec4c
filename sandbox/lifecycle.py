"""Bring a sandbox up, repair it, take it down."""

from __future__ import annotations

import shutil
import signal
import sys
from typing import TYPE_CHECKING

from sandbox import control_plane, factory, nodes, pki
from sandbox.build import ensure
from sandbox.engine import engines
from sandbox.environment import install
from sandbox.kube import Kube, until
from sandbox.processes import end, free_ports
from sandbox.state import PROJECT, State, locked

if TYPE_CHECKING:
    from pathlib import Path

SIMULATOR = "devices"

# An API server that comes back is met with ever longer pauses by those that lost it.
CLIENTS = ("kube-controller-manager", "kube-scheduler", "kwok", SIMULATOR)


def up(directory: Path, stack_file: Path | None = None) -> State:
    """Return a sandbox that is up in `directory`, with the machines of `stack_file`; what runs already is kept.

    A sandbox of which a part has died is repaired, one that was never finished is started afresh. Raises SandboxError.
    """
    machines = nodes.inventory(stack_file)
    ensure()
    with locked(directory):
        state = State.load(directory)
        if state.ready and state.runs("etcd"):
            _repair(state)
        else:
            _stop(state)
            state = _start(directory)
        kube = Kube.of(state)
        nodes.bring(kube, machines, engines()["kubernetes"].version)
        if not state.runs(SIMULATOR):
            _start_simulator(state)
        state.ready = True
        state.save()
    return state


def _start(directory: Path) -> State:
    """Start everything anew; once more with other ports when one was taken in the meantime."""
    _wipe(directory)
    names = (*control_plane.PORTS, *factory.PORTS)
    state = State(directory, dict(zip(names, free_ports(len(names)), strict=True)))
    state.save()
    pki.make(state.pki)
    for user in ("admin", "controller-manager", "scheduler"):
        control_plane.write_kubeconfig(state, user)
    control_plane.start_etcd(state)
    control_plane.start_api_server(state)
    # While the API server comes up, which takes the longest.
    install(state)
    factory.start(state)
    kube = control_plane.wait_for_api_server(state)
    control_plane.start_controllers(state)
    _wait_for_controllers(state, kube)
    return state


def _repair(state: State) -> None:
    """Start again what has died, and whatever depended on it."""
    if not state.runs("kube-apiserver"):
        control_plane.start_api_server(state)
        control_plane.wait_for_api_server(state)
        for name in CLIENTS:
            if name in state.processes:
                end(state.processes[name])
    starters = {
        "kube-controller-manager": control_plane.start_controller_manager,
        "kube-scheduler": control_plane.start_scheduler,
        "kwok": control_plane.start_kwok,
    }
    for name, start in starters.items():
        if not state.runs(name):
            start(state)
    factory.start(state)
    install(state)
    _wait_for_controllers(state, Kube.of(state))


def _wait_for_controllers(state: State, kube: Kube) -> None:
    def account() -> bool:
        state.check("kube-controller-manager")
        return bool(kube.get("v1", "serviceaccounts", "default", "default"))

    until("the controller manager", account, timeout=30, every=0.05)


def _start_simulator(state: State) -> None:
    state.spawn(SIMULATOR, sys.executable, "-m", "sandbox.devices", state.directory, cwd=PROJECT)


def down(directory: Path) -> int:
    """Stop everything that this sandbox started and remove its data, all but the logs; return how many were stopped."""
    with locked(directory):
        state = State.load(directory)
        stopped = _stop(state)
        _wipe(directory)
    return stopped


def _stop(state: State) -> int:
    running = [process for name, process in reversed(state.processes.items()) if state.runs(name)]
    for process in running:
        # The API server takes its time to end well, and its data goes anyway.
        end(process, sig=signal.SIGKILL if process.name in {"kube-apiserver", "etcd"} else signal.SIGTERM)
    state.processes.clear()
    return len(running)


def _wipe(directory: Path) -> None:
    for name in ("etcd", "pki", "factory", "tmp", "helm", "backend", "stacks", "pulumi-home", "bin"):
        shutil.rmtree(directory / name, ignore_errors=True)
    for path in (*directory.glob("*.kubeconfig"), *directory.glob("*.json")):
        path.unlink(missing_ok=True)
