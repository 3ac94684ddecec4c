"""The solver against exhaustive placement, and what it says of cards that cannot be cut as somebody wishes."""

from __future__ import annotations

import tomllib
from functools import cache
from itertools import combinations_with_replacement
from typing import Any

import pytest

from gpu_platform.planning import mig
from tests.stack_files import PROJECT

TABLE: dict[str, Any] = tomllib.loads((PROJECT / "gpu_platform" / "facts" / "mig.toml").read_text(encoding="utf-8"))


@cache
def can_be_placed(part: str, kinds: tuple[str, ...]) -> bool:
    """Try every start of every profile, one after the other: what the driver does, without a thought."""
    row = TABLE["part"][part]

    def place(left: tuple[str, ...], free: frozenset[int], compute: int, media: int) -> bool:
        if not left:
            return True
        one = row["profile"][left[0]]
        if one["compute"] > compute or one.get("media", 0) > media:
            return False
        for start in one["starts"]:
            taken = frozenset(range(start, start + one["memory"]))
            if taken <= free and place(left[1:], free - taken, compute - one["compute"], media - one.get("media", 0)):
                return True
        return False

    return place(kinds, frozenset(range(row["memory"])), row["compute"], 1)


@pytest.mark.parametrize("model", TABLE["gpu"])
def test_every_multiset_is_judged_as_placement_judges_it(model: str) -> None:
    part, names = TABLE["gpu"][model]["part"], TABLE["gpu"][model]["names"]
    largest_first = sorted(names, key=lambda kind: -TABLE["part"][part]["profile"][kind]["memory"])
    most = TABLE["part"][part]["compute"] + 1
    for size in range(most + 1):
        for kinds in combinations_with_replacement(largest_first, size):
            wanted = [names[kind] for kind in kinds]
            assert mig.feasible(model, wanted) == can_be_placed(part, kinds), wanted


def test_the_number_of_multisets_is_the_one_that_was_enumerated() -> None:
    """77 of a card of seven slices and 9 of one of four, profiles with media engines and graphics left out."""

    def plain(model: str) -> list[tuple[str, ...]]:
        return [one for one in mig.legal(model) if not any("+" in name or "-" in name for name in one)]

    assert len(plain("h100-sxm-80gb")) == 77
    assert len(plain("a30-24gb")) == 9


# Sets that only a sum of compute slices would take (facts of MIG, 3.3).
TRAPS = (
    ["3g"] * 2 + ["1g"],
    ["1gd"] * 4 + ["1g"],
    ["1gd"] * 3 + ["4g"],
    ["1gd"] * 2 + ["2g", "3g"],
    ["1g"] * 5 + ["1gd"] * 2,
)


@pytest.mark.parametrize("kinds", TRAPS, ids="-".join)
@pytest.mark.parametrize("model", [one for one in TABLE["gpu"] if TABLE["gpu"][one]["part"] == "seven"])
def test_memory_slices_count_too(model: str, kinds: list[str]) -> None:
    names = [TABLE["gpu"][model]["names"][kind] for kind in kinds]
    assert not mig.feasible(model, names)
    assert "memory slices of 8" in str(mig.trouble(model, names))


@pytest.mark.parametrize(
    ("model", "names", "says", "instead"),
    [
        (
            "h100-sxm-80gb",
            ["3g.40gb", "3g.40gb", "1g.10gb"],
            "it takes 9 memory slices of 8",
            "write [3g.40gb, 3g.40gb] or ",
        ),
        (
            "h100-sxm-80gb",
            ["7g.80gb", "1g.10gb"],
            "it takes 8 compute slices of 7 and 9 memory slices of 8",
            "write [7g.80gb]",
        ),
        ("h200-sxm-141gb", ["3g.40gb"], "h200-sxm-141gb has no profile 3g.40gb", "write [3g.71gb]"),
        (
            "h100-sxm-80gb",
            ["1g.10gb+me", "1g.10gb+me"],
            "it takes 2 media engines of 1",
            "write [1g.10gb+me, 1g.10gb] or ",
        ),
        ("h100-sxm-80gb", ["8g.80gb"], "h100-sxm-80gb has no profile 8g.80gb", "did you mean"),
        ("l40s-48gb", ["1g.6gb"], "l40s-48gb cannot be cut", "choose from"),
    ],
)
def test_what_does_not_fit_is_told_with_what_does(model: str, names: list[str], says: str, instead: str) -> None:
    assert mig.trouble(model, names) == says
    assert mig.suggestion(model, names).startswith(instead), mig.suggestion(model, names)


@pytest.mark.parametrize("model", TABLE["gpu"])
def test_what_is_suggested_always_fits(model: str) -> None:
    for name in mig.profiles(model):
        for one in mig.nearest(model, [name] * 8):
            assert mig.feasible(model, one)


@pytest.mark.parametrize(
    ("names", "lost"),
    [
        (["3g.40gb", "3g.40gb"], "1 compute slices"),
        (["1g.10gb"] * 7, "1 memory slices"),
        (["1g.20gb"] * 4, "3 compute slices"),
        (["3g.40gb"], None),
        (["7g.80gb"], None),
    ],
)
def test_slices_that_nobody_can_use_are_told(names: list[str], lost: str | None) -> None:
    assert mig.waste("h100-sxm-80gb", names) == lost


def test_what_is_unknown_is_not_feasible() -> None:
    assert not mig.feasible("l40s-48gb", ["1g.6gb"])
    assert not mig.feasible("no-such-model", [])
    assert not mig.feasible("h100-sxm-80gb", ["3g.71gb"])
    assert mig.feasible("h100-sxm-80gb", [])


@pytest.mark.parametrize("model", TABLE["gpu"])
def test_what_fits_is_placed_at_its_starts_and_nothing_overlaps(model: str) -> None:
    names, kinds = TABLE["gpu"][model]["names"], TABLE["part"][TABLE["gpu"][model]["part"]]["profile"]
    starts = {name: kinds[kind]["starts"] for kind, name in names.items()}
    for one in mig.legal(model):
        placed = mig.place(model, one)
        assert sorted(name for _, _, name in placed) == sorted(one)
        assert all(start in starts[name] for start, _, name in placed)
        lanes = [lane for start, size, _ in placed for lane in range(start, start + size)]
        assert len(lanes) == len(set(lanes))
