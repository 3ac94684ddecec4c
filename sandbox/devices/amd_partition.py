"""AMD's device config manager: whether cards can be partitioned as a label asks, and what a partition is called."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.devices.hardware import Card

# Partitions of one card by compute mode (amdgpu's aqua_vanjaram.c); CPX is one per XCD, of which Instinct GPUs have 8.
PARTS = {"SPX": 1, "DPX": 2, "QPX": 4, "CPX": 8}
_MEMORY = {"NPS1", "NPS2", "NPS4"}


class PartitionError(Exception):
    """One sentence: why the manager fails, and the cards stay as they are."""


@dataclass(frozen=True)
class Mode:
    """One card's compute and memory mode."""

    compute: str = "SPX"
    memory: str = "NPS1"

    @property
    def parts(self) -> int:
        """How many devices the card shows."""
        return PARTS[self.compute]

    @property
    def name(self) -> str:
        """The mode as the device plugin and the node labeller write it."""
        return f"{self.compute}_{self.memory}".lower()


@dataclass(frozen=True)
class Partitioned:
    """What became of the cards: one mode each, and the manager's state and sentence if it had something to do."""

    modes: tuple[Mode, ...]
    state: str = ""
    sentence: str = ""

    @property
    def counts(self) -> dict[str, int]:
        """How many devices there are by the name of their mode."""
        found: Counter[str] = Counter()
        for one in self.modes:
            found[one.name] += one.parts
        return dict(sorted(found.items()))


def partition(library: str | None, wanted: str, card: Card, count: int) -> Partitioned:
    """Return the modes of `count` of these cards when the node's label asks for the profile `wanted`."""
    try:
        return Partitioned(tuple(_modes(_profile(library, wanted), card, count)), "success")
    except PartitionError as error:
        told = f"the device config manager fails, the cards stay whole: {error}"
        return Partitioned((Mode(),) * count, "failure", told)


def _profile(library: str | None, wanted: str) -> dict[str, Any]:
    try:
        content = json.loads(library or "")
    except ValueError:
        raise PartitionError("config.json is no JSON") from None
    found = (content.get("gpu-config-profiles") or {}).get(wanted)
    if not found or not found.get("profiles"):
        raise PartitionError(f"config.json has no profile {wanted}")
    return dict(found)


def _modes(profile: dict[str, Any], card: Card, count: int) -> list[Mode]:
    skipped = set((profile.get("skippedGPUs") or {}).get("ids") or ())
    if any(one >= count for one in skipped):
        raise PartitionError(f"skippedGPUs names {max(skipped)}, there are {count} cards")
    wanted = _counted(profile["profiles"], count - len(skipped))
    if len({one.memory for one in wanted}) > 1:
        raise PartitionError("one profile cannot mix memory modes")
    for one in wanted:
        if one.compute not in card.modes:
            raise PartitionError(f"{card.product} has no compute mode {one.compute}")
        if one.memory not in card.modes[one.compute]:
            raise PartitionError(f"{card.product} has no {one.compute} with {one.memory}")
    left = iter(wanted)
    return [Mode() if index in skipped else next(left) for index in range(count)]


def _counted(entries: list[dict[str, Any]], usable: int) -> list[Mode]:
    """Return one mode per usable card; an entry without a number takes what the others leave, as in the chart's own."""
    given = sum(int(one.get("numGPUsAssigned") or 0) for one in entries)
    open_ended = sum(not one.get("numGPUsAssigned") for one in entries)
    if given > usable or open_ended > 1 or (not open_ended and given != usable):
        raise PartitionError(f"numGPUsAssigned and skippedGPUs do not add up to the cards: {given} of {usable}")
    found: list[Mode] = []
    for one in entries:
        mode = Mode(str(one.get("computePartition")), str(one.get("memoryPartition")))
        if mode.compute not in PARTS or mode.memory not in _MEMORY:
            raise PartitionError(f"{mode.compute} with {mode.memory} is no pair of modes")
        found += [mode] * int(one.get("numGPUsAssigned") or usable - given)
    return found
