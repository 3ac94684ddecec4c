"""How a card can be cut: which multisets of profiles fit, what runs out, and what would fit instead."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

SLICES = ("compute slices", "memory slices", "media engines")


@dataclass(frozen=True)
class Profile:
    """One way of cutting: its name on the model, and what it takes of compute, memory and media engines."""

    name: str
    needs: tuple[int, int, int]


def capable(model: str) -> bool:
    """Tell whether cards of this model can be cut."""
    return model in facts.table("mig")["gpu"]


@cache
def profiles(model: str) -> dict[str, Profile]:
    """Return the profiles of a model by name; {} for one that cannot be cut."""
    row = facts.table("mig")["gpu"].get(model, {"part": "seven", "names": {}})
    kinds = facts.table("mig")["part"][row["part"]]["profile"]
    return {
        name: Profile(name, (kinds[kind]["compute"], kinds[kind]["memory"], kinds[kind].get("media", 0)))
        for kind, name in row["names"].items()
    }


@cache
def capacity(model: str) -> tuple[int, int, int]:
    """Return the compute slices, memory slices and media engines of one card; needs a model that can be cut."""
    part = facts.table("mig")["part"][facts.table("mig")["gpu"][model]["part"]]
    return (part["compute"], part["memory"], 1)


def needs(model: str, names: Iterable[str]) -> tuple[int, int, int]:
    """Return what a multiset of known profiles takes of one card."""
    known = profiles(model)
    taken = [known[name].needs for name in names]
    return (sum(one[0] for one in taken), sum(one[1] for one in taken), sum(one[2] for one in taken))


def feasible(model: str, names: Iterable[str]) -> bool:
    """Tell whether one card of `model` can be cut into these profiles, names repeated for counts.

    A model that cannot be cut, or a profile that it does not have, is not feasible. Enough of each kind is enough:
    placements never fail for their starts alone (tests/planning/test_mig.py places every multiset).
    """
    listed = list(names)
    known = profiles(model)
    if not known or any(name not in known for name in listed):
        return False
    return all(taken <= there for taken, there in zip(needs(model, listed), capacity(model), strict=True))


def trouble(model: str, names: Iterable[str]) -> str | None:
    """Return why one card cannot be cut so, or None: unknown names first, else everything that runs out."""
    listed = list(names)
    if not capable(model):
        return f"{model} cannot be cut"
    if unknown := [name for name in listed if name not in profiles(model)]:
        return f"{model} has no profile {unknown[0]}"
    lacking = [
        f"{taken} {what} of {there}"
        for what, taken, there in zip(SLICES, needs(model, listed), capacity(model), strict=True)
        if taken > there
    ]
    return f"it takes {' and '.join(lacking)}" if lacking else None


def place(model: str, names: Iterable[str]) -> tuple[tuple[int, int, str], ...]:
    """Return where each profile lies on the card: first memory slice, size, name; needs profiles that fit.

    Those with the fewest starts first, each at the last one that is free, since small ones cannot start at the end:
    what fits is always placed so (tests/planning/test_mig.py).
    """
    row = facts.table("mig")["gpu"][model]
    kinds = {name: facts.table("mig")["part"][row["part"]]["profile"][kind] for kind, name in row["names"].items()}
    free, placed = set(range(capacity(model)[1])), []
    for name in sorted(names, key=lambda name: len(kinds[name]["starts"])):
        size = kinds[name]["memory"]
        start = next(one for one in reversed(kinds[name]["starts"]) if free.issuperset(range(one, one + size)))
        free -= set(range(start, start + size))
        placed.append((start, size, name))
    return tuple(sorted(placed))


def waste(model: str, names: Iterable[str]) -> str | None:
    """Return what nobody can use of a card that is cut so, or None: slices for which no profile is left."""
    listed = list(names)
    left = [there - taken for taken, there in zip(needs(model, listed), capacity(model), strict=True)]
    if any(feasible(model, [*listed, name]) for name in profiles(model)) or not any(left[:2]):
        return None
    return " and ".join(f"{count} {what}" for what, count in zip(SLICES, left[:2], strict=False) if count)


def nearest(model: str, names: Iterable[str], most: int = 3) -> tuple[tuple[str, ...], ...]:
    """Return the multisets that fit and differ least: the fewest changes first, then the nearest in size."""
    wished = [_translated(model, name) for name in names]
    wanted, size = Counter(wished), needs(model, (name for name in wished if name in profiles(model)))

    def distance(one: tuple[str, ...]) -> tuple[int, int, tuple[str, ...]]:
        apart = sum(abs(mine - theirs) for mine, theirs in zip(size, needs(model, one), strict=True))
        return (_changes(wanted, Counter(one)), apart, one)

    return tuple(sorted(legal(model), key=distance)[:most])


@cache
def legal(model: str) -> tuple[tuple[str, ...], ...]:
    """Return every multiset that fits on one card, the empty one left out, the largest profiles first."""
    names = sorted(profiles(model), key=lambda name: (profiles(model)[name].needs, name), reverse=True)
    most = capacity(model)[0] if names else 0
    sizes = (combinations_with_replacement(names, size) for size in range(1, most + 1))
    return tuple(one for size in sizes for one in size if feasible(model, one))


def _changes(one: Counter[str], other: Counter[str]) -> int:
    """Count the profiles that have to go or come; one for another is one change."""
    return max((one - other).total(), (other - one).total())


def _translated(model: str, name: str) -> str:
    """Return the model's own profile for one of another memory size, as many slices large; else the name itself."""
    known = profiles(model)
    if name in known:
        return name
    same = [
        one
        for one in known
        if one.split(".")[0] == name.split(".", maxsplit=1)[0] and one.partition("+")[2] == name.partition("+")[2]
    ]
    return same[0] if same else name


def suggestion(model: str, names: Iterable[str]) -> str:
    """Return what to write instead of a multiset that does not fit."""
    listed = list(names)
    for name in listed:
        if name not in profiles(model) and _translated(model, name) == name:
            return did_you_mean(name, profiles(model), otherwise=f"choose from {', '.join(profiles(model))}")
    return "write " + " or ".join(f"[{', '.join(one)}]" for one in nearest(model, listed))
