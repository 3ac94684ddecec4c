"""Canonical schematics a second, against PyYAML's safe_dump of the same content."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import yaml

from bench.figures import CouldNotRunError, Figure
from gpu_platform.planning.schematic import Schematic, canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DOCUMENTS = 200
ROUNDS = 9
ARGUMENTS = ("iommu=pt", "talos.dashboard.disabled=1", "pci=realloc", "console=ttyS0,115200n8")
EXTENSIONS = (
    "siderolabs/iscsi-tools",
    "siderolabs/nvidia-container-toolkit-production",
    "siderolabs/nvidia-fabricmanager-production",
    "siderolabs/nvidia-open-gpu-kernel-modules-production",
)


def figures() -> Iterator[Figure]:
    """Yield the ratio of documents a second, for reading."""
    schematics = [_schematic(number) for number in range(DOCUMENTS)]
    contents = [_content(one) for one in schematics]
    for one, content in zip(schematics, contents, strict=True):
        if yaml.safe_load(canonical(one)) != content:
            raise CouldNotRunError("the two kinds of document differ: bench/schematic.py needs mending")
    ours, theirs = _rates((canonical, schematics), (yaml.safe_dump, contents))
    detail = f"{ours:,.0f} to {theirs:,.0f}"
    yield Figure("canonical schematics a second to PyYAML's safe_dump", ours / theirs, "x", None, detail)


def _schematic(number: int) -> Schematic:
    """Return a document with none, some or all arguments and extensions, and one argument of its own."""
    own = f"bench.number={number}"
    return Schematic(
        extra_kernel_args=(*ARGUMENTS[: number % (len(ARGUMENTS) + 1)], own),
        extensions=EXTENSIONS[number % len(EXTENSIONS) :],
    )


def _content(one: Schematic) -> dict[str, Any]:
    return {
        "customization": {
            "extraKernelArgs": list(one.extra_kernel_args),
            "systemExtensions": {"officialExtensions": list(one.extensions)},
        }
    }


def _rates(*pairs: tuple[Callable[[Any], object], Sequence[Any]]) -> list[float]:
    """Return the best rate of each function over its documents; they take turns."""
    best = [0.0] * len(pairs)
    for _ in range(ROUNDS):
        for index, (function, documents) in enumerate(pairs):
            start = time.process_time()
            for one in documents:
                function(one)
            best[index] = max(best[index], len(documents) / (time.process_time() - start))
    return best
