"""Programs that run in pods: each is one file that needs the standard library only, and torch once it has started."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def text(name: str) -> str:
    """Return the source of the program `name`.py as pods get it."""
    return resources.files(__name__).joinpath(f"{name}.py").read_text(encoding="utf-8")
