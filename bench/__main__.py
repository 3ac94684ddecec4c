"""`python -m bench [NAME...] [--json]`: one table of figures; exit status 0, or 2 where one could not be measured."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from bench.figures import CouldNotRunError, Figure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Modules of this package by name. Each is imported when its turn comes: what one needs does not burden another.
NAMES = ("start", "program", "growth", "check", "schematic", "mig", "addresses", "absent")
COLOURS = {"ok": "green", "over": "red", "failed": "red", "skipped": "dim", "-": "default"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the named figures, or all; print them and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(NAMES)}; default all")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON for machines")
    given = parser.parse_args(arguments)
    if unknown := sorted({*given.names} - {*NAMES}):
        parser.error(f"no figure {', '.join(unknown)}: choose from {', '.join(NAMES)}")
    found = [one for name in given.names or NAMES for one in _measured(name)]
    if given.as_json:
        sys.stdout.write(json.dumps([one.to_json() for one in found], indent=2) + "\n")
    else:
        _print(found)
    return 2 if any(one.failed for one in found) else 0


def _measured(name: str) -> Iterator[Figure]:
    """Yield the figures of one module; trouble with one ends neither the others nor the table."""
    sys.stderr.write(f"measuring {name}\n")
    try:
        yield from importlib.import_module(f"bench.{name}").figures()
    except CouldNotRunError as error:
        yield Figure(name, failed=str(error))
    except Exception as error:  # noqa: BLE001 - the product may be broken in any way, and the rest is still worth its time
        yield Figure(name, failed=f"{type(error).__name__}: {error}")


def _print(found: list[Figure]) -> None:
    table = Table(title="Figures, measured side by side", title_justify="left", title_style="bold")
    for heading in ("what", "measured", "bar", ""):
        table.add_column(heading, overflow="fold")
    for one in found:
        colour = COLOURS[one.verdict]
        table.add_row(one.what, one.measured, one.bar_text, f"[{colour}]{one.verdict}[/]")
    Console(highlight=False, width=None if sys.stdout.isatty() else 150).print(table)


if __name__ == "__main__":
    sys.exit(main())
