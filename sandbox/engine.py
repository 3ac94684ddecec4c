"""The table of engines: what each is built from, its version, and where its binaries lie."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sandbox.errors import SandboxError

SOURCES = Path(__file__).resolve().parent / "engines"


@dataclass(frozen=True)
class Engine:
    """One Go module under sandbox/engines and the binaries that come from it."""

    name: str
    pinned: str
    binaries: dict[str, str]
    tags: tuple[str, ...]
    ldflags: tuple[str, ...]
    version_arguments: tuple[str, ...]
    release: str | None
    scripts: dict[str, Any]
    embed: dict[str, str]
    source_name: str

    @property
    def source(self) -> Path:
        """The directory with the engine's go.mod."""
        return SOURCES / self.source_name

    @property
    def version(self) -> str:
        """The version that go.mod requires of the pinned module, as `v1.2.3`; a release of our own naming wins."""
        if self.release:
            return f"v{self.release}"
        found = re.search(rf"^(?:require )?\s*{re.escape(self.pinned)} (v\S+)", self._go_mod(), re.MULTILINE)
        if not found:
            raise SandboxError(f"{self.source / 'go.mod'} does not require {self.pinned}")
        return found.group(1)

    @property
    def linker_flags(self) -> str:
        """The -ldflags of the build, with the version filled in."""
        major, minor, *_ = self.version.lstrip("v").split(".")
        values = {"version": self.version, "release": self.release or "", "major": major, "minor": minor}
        return " ".join(["-s", "-w", *(flag.format(**values) for flag in self.ldflags)])

    @property
    def outputs(self) -> tuple[str, ...]:
        """The file names that a finished build holds."""
        return (*self.binaries, *(Path(name).name for name in self.scripts.get("files", ())))

    @property
    def key(self) -> str:
        """A hash of everything that decides the binaries: pins, sources, flags, Go release, architecture."""
        digest = hashlib.sha256()
        for file in sorted(path for path in self.source.rglob("*") if path.is_file()):
            digest.update(f"{file.relative_to(self.source)}\0".encode() + file.read_bytes() + b"\0")
        table = (self.binaries, self.tags, self.ldflags, self.release, self.scripts, self.embed)
        digest.update(repr((table, platform.machine(), platform.system())).encode())
        return digest.hexdigest()[:16]

    @property
    def directory(self) -> Path:
        """Where the built binaries lie: outside the clone, one directory for each set of pins."""
        return cache_directory() / "engines" / f"{self.name}-{self.key}"

    @property
    def built(self) -> bool:
        """Whether every binary and script is in the cache; a directory appears there only when it is complete."""
        return all((self.directory / name).is_file() for name in self.outputs)

    def on_path(self) -> dict[str, Path]:
        """Return the binaries of exactly this version that the caller has on PATH, or nothing."""
        if not self.version_arguments:
            return {}
        found = {name: Path(path) for name in self.binaries if (path := shutil.which(name))}
        right = len(found) == len(self.binaries) and all(self._answers(path) for path in found.values())
        return found if right else {}

    def _answers(self, path: Path) -> bool:
        try:
            done = subprocess.run(
                [path, *self.version_arguments], capture_output=True, text=True, timeout=10, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return re.search(rf"(?<![\d.]){re.escape(self.version.lstrip('v'))}(?![\d.])", done.stdout) is not None

    def _go_mod(self) -> str:
        return (self.source / "go.mod").read_text(encoding="utf-8")


def cache_directory() -> Path:
    """Return the cache that all clones share: $GPU_PLATFORM_CACHE, else the user's cache directory."""
    if chosen := os.environ.get("GPU_PLATFORM_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpu-platform"


@cache
def engines() -> dict[str, Engine]:
    """Return every engine of sandbox/engines/engines.toml by name, in the order of the table."""
    rows = tomllib.loads((SOURCES / "engines.toml").read_text(encoding="utf-8"))
    return {
        name: Engine(
            name=name,
            pinned=row["pinned"],
            binaries=row.get("binaries", {}),
            tags=tuple(row.get("tags", ())),
            ldflags=tuple(row.get("ldflags", ())),
            version_arguments=tuple(row.get("version_arguments", ())),
            release=row.get("release"),
            scripts=row.get("scripts", {}),
            embed=row.get("embed", {}),
            source_name=row.get("source", name),
        )
        for name, row in rows.items()
    }
