"""Build the engines that are missing, once a machine, and say where each binary is."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from sandbox.engine import Engine, cache_directory, engines
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

HEARTBEAT_SECONDS = 20.0
GO_NEEDED = (1, 26)


def run(names: Iterable[str] | None = None, *, keep_cache: bool = False, console: Console | None = None) -> None:
    """Make sure that the named engines (all when None) are there, with one line of progress for each.

    Raises SandboxError when a name is unknown, Go is missing or too old, or a build fails; engines that were finished
    before the failure stay built.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    chosen = _chosen(names)
    began, built_any = time.monotonic(), False
    for engine in chosen:
        built_any |= _provide(engine, console)
    if built_any and not keep_cache:
        _drop_compiler_cache()
    console.print(f"{len(chosen)} engines ready in {time.monotonic() - began:.1f} s ({cache_directory() / 'engines'})")


def ensure(names: Iterable[str] | None = None) -> None:
    """Build what is missing of the named engines and print nothing when all of them are there."""
    if any(not engine.built and not engine.on_path() for engine in _chosen(names)):
        run(names)


def binary(name: str) -> Path:
    """Return the path of one engine binary or script; raises SandboxError when it has not been built."""
    for engine in engines().values():
        if name not in engine.outputs:
            continue
        if found := engine.on_path().get(name):
            return found
        if engine.built:
            return engine.directory / name
        raise SandboxError(f"{name} is not built yet: run `python -m sandbox build {engine.name}`")
    raise SandboxError(f"no engine provides {name}")


def _chosen(names: Iterable[str] | None) -> list[Engine]:
    table = engines()
    wanted = list(table) if names is None else list(names)
    if unknown := [name for name in wanted if name not in table]:
        raise SandboxError(f"unknown engine {', '.join(unknown)}: choose from {', '.join(table)}")
    return [table[name] for name in wanted]


def _provide(engine: Engine, console: Console) -> bool:
    """Use, find or build one engine; tells whether something was built."""
    label = f"{engine.name:28} {engine.version:12}"
    if found := engine.on_path():
        console.print(f"{label} on PATH  {', '.join(str(path) for path in found.values())}")
        return False
    if engine.built:
        console.print(f"{label} cached")
        return False
    _require_go(engine)
    with _lock(engine):
        if engine.built:  # another clone built it while this one waited
            console.print(f"{label} cached")
            return False
        began = time.monotonic()
        _build(engine, label, console)
        console.print(f"{label} built    {time.monotonic() - began:.0f} s")
    return True


def _build(engine: Engine, label: str, console: Console) -> None:
    log = cache_directory() / "logs" / f"{engine.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("")
    engine.directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=engine.directory.parent, prefix=f".{engine.name}-") as scratch:
        work, out = Path(scratch) / "work", Path(scratch) / "out"
        # A copy, so that a build never writes into the clone.
        shutil.copytree(engine.source, work)
        out.mkdir()
        if engine.embed:
            shutil.copy(_module(engine, engine.embed["module"], work, log) / engine.embed["file"], work)
        if engine.binaries:
            _compile(engine, work, out, log, label, console)
        for file in engine.scripts.get("files", ()):
            source = _module(engine, engine.scripts["module"], work, log) / file
            shutil.copyfile(source, out / source.name)
            (out / source.name).chmod(0o755)
        shutil.rmtree(engine.directory, ignore_errors=True)
        out.rename(engine.directory)


def _compile(engine: Engine, work: Path, out: Path, log: Path, label: str, console: Console) -> None:
    """Run `go build` once for each binary that has a name of its own, so that shared packages compile once."""
    for name, package in engine.binaries.items():
        target = out / name
        arguments = ["build", "-trimpath", "-v", "-tags", ",".join(engine.tags), "-ldflags", engine.linker_flags]
        _go([*arguments, "-o", str(target), package], engine, work, log, label, console)


def _module(engine: Engine, module: str, work: Path, log: Path) -> Path:
    _go(["mod", "download", module], engine, work, log)
    done = subprocess.run(
        ["go", "list", "-m", "-f", "{{.Dir}}", module],
        cwd=work,
        env=_go_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return Path(done.stdout.strip())


def _go(
    arguments: list[str], engine: Engine, work: Path, log: Path, label: str = "", console: Console | None = None
) -> None:
    began = time.monotonic()
    with log.open("ab") as sink:
        child = subprocess.Popen(["go", *arguments], cwd=work, env=_go_environment(), stdout=sink, stderr=sink)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(HEARTBEAT_SECONDS)
                break
            if console:
                console.print(f"{label} building {time.monotonic() - began:.0f} s ({_packages(log)} packages compiled)")
    if child.returncode:
        last = [line for line in log.read_text(errors="replace").splitlines() if line.strip()][-3:]
        cause = " / ".join(last) or "go ended without a word"
        raise SandboxError(
            f"engine {engine.name} {engine.version} could not be built: {cause}\n"
            f"log: {log}\nrepeat: python -m sandbox build {engine.name}"
        )


def _packages(log: Path) -> int:
    """Count the packages that `go build -v` has named so far: they are lines without spaces."""
    return sum(1 for line in log.read_text(errors="replace").splitlines() if line and " " not in line)


def _go_environment() -> dict[str, str]:
    ours = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false", "GOWORK": "off"}
    return {**os.environ, **ours, "GOCACHE": os.environ.get("GOCACHE") or str(_compiler_cache())}


def _compiler_cache() -> Path:
    return cache_directory() / "go-build"


def _drop_compiler_cache() -> None:
    """Give back the gigabytes of compiled packages, which no later run needs; a GOCACHE of the user's own stays."""
    if not os.environ.get("GOCACHE"):
        shutil.rmtree(_compiler_cache(), ignore_errors=True)


def _require_go(engine: Engine) -> None:
    wanted = ".".join(map(str, GO_NEEDED))
    if not (go := shutil.which("go")):
        raise SandboxError(
            f"engine {engine.name} {engine.version} has to be built and needs Go {wanted}: install it, "
            f"or put {', '.join(engine.outputs)} of that version on PATH"
        )
    told = subprocess.run([go, "env", "GOVERSION"], capture_output=True, text=True, check=False).stdout.strip()
    numbers = told.removeprefix("go").split(".")[:2]
    if all(part.isdigit() for part in numbers) and tuple(map(int, numbers)) < GO_NEEDED:
        raise SandboxError(f"engine {engine.name} needs Go {wanted} or newer, {go} is {told}: install a newer one")


@contextlib.contextmanager
def _lock(engine: Engine) -> Iterator[None]:
    """Hold one engine's build for this machine, so that two clones do not build it at the same time."""
    path = cache_directory() / "locks" / engine.name
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
