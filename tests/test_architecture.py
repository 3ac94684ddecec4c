"""The house stays as it is described."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from gpu_platform import facts
from tests.stack_files import PROJECT

CODE = [path for top in ("gpu_platform", "components") for path in (PROJECT / top).rglob("*.py")]


def test_the_program_is_wiring_only() -> None:
    lines = (PROJECT / "__main__.py").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 50
    assert not [line for line in lines if re.match(r"\s*(if|for|while|try)\b", line)]


def test_versions_stand_in_the_facts_and_nowhere_in_code() -> None:
    literal = re.compile(r"""["'/:]v?\d+\.\d+\.\d+["']""")
    found = [
        f"{path.relative_to(PROJECT)}:{number}: {line.strip()}"
        for path in CODE
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if literal.search(line) and "127.0.0.1" not in line
    ]
    assert found == []


@pytest.mark.parametrize(
    "path", sorted((PROJECT / "gpu_platform" / "facts").glob("*.toml")), ids=lambda path: path.stem
)
def test_a_table_of_facts_names_its_sources(path: object) -> None:
    name = str(getattr(path, "stem", ""))
    text = (PROJECT / "gpu_platform" / "facts" / f"{name}.toml").read_text(encoding="utf-8")
    assert facts.table(name)
    assert "source" in text.lower() or "in one table" in text


def test_no_file_is_a_labyrinth() -> None:
    files = [
        path for top in ("gpu_platform", "components", "sandbox", "tests") for path in (PROJECT / top).rglob("*.py")
    ]
    assert [path for path in files if len(path.read_text(encoding="utf-8").splitlines()) > 300] == []


@pytest.mark.parametrize("module", ["gpu_platform.planning", "gpu_platform.cli", "components", "gpu_platform.findings"])
def test_importing_is_free_of_pulumi(module: str) -> None:
    code = f"import sys, {module}; sys.exit('pulumi' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0
