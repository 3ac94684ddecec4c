"""The real Image Factory on loopback, seeded from the project's facts, with a proxy before it that can misbehave."""

from __future__ import annotations

import http.client
import sys
from pathlib import Path

from sandbox.build import binary
from sandbox.errors import SandboxError
from sandbox.factory.config import write_config
from sandbox.factory.proxy import MODES
from sandbox.factory.seed import seed
from sandbox.kube import until
from sandbox.pki import write_signing_key
from sandbox.processes import end
from sandbox.state import PROJECT, State

__all__ = ["PORTS", "set_fault", "start", "url"]

TOOLS = Path(__file__).resolve().parent / "tools"
PORTS = ("registry", "factory", "factory-proxy")


def url(state: State) -> str:
    """Return the URL under which programs see the factory."""
    return f"http://127.0.0.1:{state.ports['factory-proxy']}"


def set_fault(state: State, mode: str) -> None:
    """Make the proxy answer in one of its modes from the next request on; raises SandboxError for an unknown one."""
    name = mode.split(":", 1)[0]
    if name not in MODES:
        raise SandboxError(f"unknown fault {mode}: choose from {', '.join(MODES)}")
    (state.directory / "factory" / "fault").write_text(mode)


def start(state: State) -> None:
    """Start what does not run of registry, factory and proxy; a fresh registry is seeded."""
    directory = state.directory / "factory"
    for name in ("tmp", "home"):
        (directory / name).mkdir(parents=True, exist_ok=True)
    if not state.runs("registry"):
        # It keeps everything in memory: the factory before it holds lists of what was there.
        if state.runs("image-factory"):
            end(state.processes["image-factory"])
        state.spawn("registry", binary("oci-registry"), "--address", f"127.0.0.1:{state.ports['registry']}")
        _wait(state, "registry", "registry", "/v2/")
        seed(state.ports["registry"])
    if not state.runs("image-factory"):
        key = directory / "cache.key"
        if not key.exists():
            write_signing_key(key)
        _start_factory(state, write_config(directory, state.ports))
    if not state.runs("factory-proxy"):
        (directory / "fault").write_text("none")
        ports = [str(state.ports[name]) for name in ("factory-proxy", "factory")]
        state.spawn(
            "factory-proxy", sys.executable, "-m", "sandbox.factory.proxy", *ports, directory / "fault", cwd=PROJECT
        )
    _wait(state, "image-factory", "factory", "/healthz")
    _wait(state, "factory-proxy", "factory-proxy", "/healthz")


def _start_factory(state: State, config: object) -> None:
    directory = state.directory / "factory"
    registry = f"http://127.0.0.1:{state.ports['registry']}"
    # A clean environment: every IF_* variable of the caller would be read, and its proxies would be used.
    # The proxy makes ghcr.io resolve to the local registry without changing the references that the API prints.
    env = {
        "PATH": f"{TOOLS}:/usr/bin:/bin",
        "HOME": str(directory / "home"),
        "DOCKER_CONFIG": str(directory / "home"),
        "TMPDIR": str(directory / "tmp"),
        "HTTP_PROXY": registry,
        "HTTPS_PROXY": registry,
    }
    state.spawn("image-factory", binary("image-factory"), "--config", str(config), env=env, clean=True)


def _wait(state: State, process: str, port: str, path: str) -> None:
    def answers() -> bool:
        state.check(process)
        connection = http.client.HTTPConnection("127.0.0.1", state.ports[port], timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == http.client.OK
        finally:
            connection.close()

    until(process, answers, timeout=20, every=0.02)
