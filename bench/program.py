"""The whole program against a flat one, written by hand, that registers the same resources.

Both run in fresh processes under a mock engine. A real one starts provider plugins and waits for a cluster, the same
for both, so that its ratio would be nearer to 1: under mocks the bar is the harder one.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from bench.figures import CouldNotRunError
from bench.inputs import document, write_configuration
from bench.processes import PROJECT, in_turns, python, ratio, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.figures import Figure

BAR = 1.15
# Pools and nodes.
SIZES = ((4, 16), (10, 1000))
# The two ways of writing it, see bench/flat_program.py: what people write, and the hardest to compare with.
FLAT = ("typed", "generic")


def figures() -> Iterator[Figure]:
    """Yield the ratio of wall time for each size and each way of writing the flat program."""
    for pools, nodes in SIZES:
        with TemporaryDirectory() as folder:
            taken = in_turns(_commands(Path(folder), document(pools=pools, nodes=nodes)))
        for name in FLAT:
            yield ratio(
                f"whole program to a flat one, {name} classes, {nodes} nodes", taken["program"], taken[name], BAR
            )


def _commands(folder: Path, keys: dict[str, Any]) -> dict[str, list[str]]:
    """Return the commands of the program and of the flat ones, which were seen to register and export the same."""
    commands = {"program": _command(folder / "program.json", "__main__.py", "gpu-platform", keys)}
    literals = _said(folder, commands["program"])
    for name in FLAT:
        values = {**literals, "classes": name}
        commands[name] = _command(folder / f"{name}.json", "bench/flat_program.py", "flat", values)
        _insist_on_the_same(name, literals, _said(folder, commands[name]))
    return commands


def _command(configuration: Path, program: str, namespace: str, keys: dict[str, Any]) -> list[str]:
    write_configuration(configuration, namespace, keys)
    return python("-m", "bench.mocked", str(PROJECT / program), str(configuration))


def _said(folder: Path, command: list[str]) -> dict[str, Any]:
    """Return what the program that `command` runs registers and exports."""
    record = folder / "record.json"
    run([*command, str(record)])
    said: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return said


def _insist_on_the_same(name: str, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    one, other = _by_name(ours), _by_name(theirs)
    if differ := sorted(key for key in {*one, *other} if one.get(key) != other.get(key)):
        what = ", ".join(key.rsplit("::", 1)[-1] for key in differ[:3])
        raise CouldNotRunError(f"the flat program with {name} classes is not the same as the program: {what}")


def _by_name(said: dict[str, Any]) -> dict[str, Any]:
    """Return resources and outputs by name; what a lookup sends beside its ID decides nothing, and classes differ."""
    resources = {one["urn"]: {**one, "inputs": None} if one["id"] else one for one in said["resources"]}
    return {**resources, **said["outputs"]}
