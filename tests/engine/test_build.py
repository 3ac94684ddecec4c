"""What a person reads when an engine cannot be built, and that a binary on PATH of the right version is preferred."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from sandbox import build, engine
from sandbox.errors import SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.engine


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("GPU_PLATFORM_CACHE", str(tmp_path / "cache"))
    yield tmp_path
    engine.engines.cache_clear()


def test_without_go_it_says_what_to_install(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(empty_cache))
    with pytest.raises(SandboxError, match=r"engine oci-registry v\S+ has to be built and needs Go 1\.26: install it"):
        build.run(["oci-registry"])


def test_a_failed_build_names_engine_log_and_the_command_to_repeat(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(engine.SOURCES, empty_cache / "engines")
    (empty_cache / "engines" / "oci-registry" / "main.go").write_text("package main\n\nfunc main() { broken }\n")
    monkeypatch.setattr(engine, "SOURCES", empty_cache / "engines")
    with pytest.raises(SandboxError) as raised:
        build.run(["oci-registry"])
    text = str(raised.value)
    assert "engine oci-registry" in text
    assert "could not be built" in text
    assert f"log: {empty_cache / 'cache' / 'logs' / 'oci-registry.log'}" in text
    assert "repeat: python -m sandbox build oci-registry" in text


@pytest.mark.parametrize(("answer", "used"), [("v3.6.16", True), ("3.6.1", False), ("13.6.16", False)])
def test_only_the_right_version_on_path_is_used(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch, answer: str, used: bool
) -> None:
    (empty_cache / "etcd").write_text(f"#!/bin/sh\necho etcd Version: {answer}\n")
    (empty_cache / "etcd").chmod(0o755)
    monkeypatch.setenv("PATH", f"{empty_cache}:/usr/bin:/bin")
    assert bool(engine.engines()["etcd"].on_path()) is used
