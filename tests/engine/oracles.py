"""Vendors' own code as a judge: the factory's reading of schematics, Talos's loading of machine configurations."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

from sandbox.build import binary, ensure

if TYPE_CHECKING:
    from collections.abc import Sequence

TALOS_MINORS = ("1.11", "1.12", "1.13", "1.14")


def schematics(texts: Sequence[str], *, enterprise: bool = False) -> list[dict[str, str]]:
    """Return what the Image Factory makes of each document: id and schematic, or error."""
    return _ask("schematic-oracle", texts, *(["-enterprise"] if enterprise else []))


def machine_configs(minor: str, patches: Sequence[str]) -> list[dict[str, Any]]:
    """Return what Talos of this minor makes of a worker with each patch: config, warnings and modules, or error."""
    return _ask(f"talos-config-{minor}", [{"patch": patch} for patch in patches])


def _ask(engine: str, questions: Sequence[Any], *arguments: str) -> list[dict[str, Any]]:
    ensure([engine])
    text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in questions)
    done = subprocess.run(
        [binary(engine), *arguments], input=text, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(questions)
    return answers
