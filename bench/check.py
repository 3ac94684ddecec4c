"""What `check` costs on a large stack file: wall time of the whole process, and memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.figures import Figure
from bench.inputs import document, write_stack_file
from bench.processes import in_turns, peak_megabytes, python

if TYPE_CHECKING:
    from collections.abc import Iterator

POOLS, NODES = 10, 1000
SECONDS, MEGABYTES = 1.0, 150.0

_LOAD = "import sys; from pathlib import Path; from gpu_platform.strict_yaml import load"
_READ = "load(Path(sys.argv[1]).read_text(encoding='utf-8'))"
_IMPORTS = "import gpu_platform.cli, gpu_platform.planning, gpu_platform.settings.document"


def figures() -> Iterator[Figure]:
    """Yield seconds, memory, and where the seconds go."""
    words = f"{NODES} nodes in {POOLS} pools"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "Pulumi.bench.yaml"
        write_stack_file(path, document(pools=POOLS, nodes=NODES))
        check = python("-m", "gpu_platform", "check", str(path))
        # Each of these does a part of what check does, in a process like its own: differences are the shares.
        parts = {
            "check": check,
            "interpreter": python("-c", "pass"),
            "imports": python("-c", _IMPORTS),
            "reader": python("-c", _LOAD),
            "reading": python("-c", f"{_LOAD}; {_READ}", str(path)),
        }
        taken = in_turns(parts)
        memory = peak_megabytes(check)
    yield Figure(f"check of {words}", taken["check"], " s", SECONDS)
    yield Figure(f"check of {words}, peak memory", memory, " MB", MEGABYTES)
    bare, whole = taken["interpreter"], taken["check"]
    shares = {
        "interpreter": bare,
        "imports": taken["imports"] - bare,
        "reading YAML": taken["reading"] - taken["reader"],
    }
    shares["settings, rules and plan"] = whole - sum(shares.values())
    detail = ", ".join(f"{name} {100 * share / whole:.0f} %" for name, share in shares.items())
    yield Figure("where the seconds of check go", detail=detail)
