"""How long the program takes to start: what it imports, against the two SDKs alone."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from bench.processes import PROJECT, in_turns, python, ratio

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.figures import Figure

BAR = 1.6
SDKS = "import pulumi, pulumi_kubernetes"


def figures() -> Iterator[Figure]:
    """Yield the ratio of program start to the start of the SDKs that every such program pays for."""
    taken = in_turns({"program": python("-c", imports()), "SDKs": python("-c", SDKS)})
    yield ratio("program start to import pulumi, pulumi_kubernetes", taken["program"], taken["SDKs"], BAR)


def imports() -> str:
    """Return the import statements of the program, read from its text so that this follows what it does."""
    program = ast.parse((PROJECT / "__main__.py").read_text(encoding="utf-8"))
    return "; ".join(ast.unparse(one) for one in program.body if isinstance(one, ast.Import | ast.ImportFrom))
