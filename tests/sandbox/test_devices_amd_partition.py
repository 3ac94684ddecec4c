"""Profiles of AMD's device config manager: pairs of modes that cards have, and sums that do not add up."""

import json
from typing import Any

import pytest

from sandbox.devices.amd_partition import partition
from sandbox.devices.hardware import cards
from tests.sandbox.other_objects import PROFILES

MI300X = cards()["mi300x-192gb"]


def one(compute: str, memory: str, number: int | None = 8) -> dict[str, Any]:
    counted = {} if number is None else {"numGPUsAssigned": number}
    return {"computePartition": compute, "memoryPartition": memory, **counted}


def library(*profiles: dict[str, Any], skipped: tuple[int, ...] = ()) -> str:
    profile = {"profiles": list(profiles), "skippedGPUs": {"ids": list(skipped)}}
    return json.dumps({"gpu-config-profiles": {"p": profile}})


@pytest.mark.parametrize(
    ("compute", "memory", "number"),
    [
        ("SPX", "NPS1", 8),
        ("DPX", "NPS1", 16),
        ("DPX", "NPS2", 16),
        ("QPX", "NPS1", 32),
        ("QPX", "NPS4", 32),
        ("CPX", "NPS1", 64),
        ("CPX", "NPS4", 64),
        ("SPX", "NPS4", 0),
        ("DPX", "NPS4", 0),
        ("QPX", "NPS2", 0),
        ("CPX", "NPS2", 0),
    ],
)
def test_which_modes_go_together(compute: str, memory: str, number: int) -> None:
    found = partition(library(one(compute, memory)), "p", MI300X, 8)
    if number:
        assert (found.state, found.counts) == ("success", {f"{compute}_{memory}".lower(): number})
    else:
        assert (found.state, found.counts) == ("failure", {"spx_nps1": 8})
        assert f"has no {compute} with {memory}" in found.sentence


@pytest.mark.parametrize(
    ("text", "wanted", "reason"),
    [
        ("", "p", "no JSON"),
        (library(one("CPX", "NPS1")), "q", "no profile q"),
        (library(one("CPX", "NPS1", 7)), "p", "do not add up to the cards: 7 of 8"),
        (library(one("CPX", "NPS1", 9)), "p", "9 of 8"),
        (library(one("CPX", "NPS1", None), one("SPX", "NPS1", None)), "p", "do not add up"),
        (library(one("CPX", "NPS1", 4), one("CPX", "NPS4", 4)), "p", "mix memory modes"),
        (library(one("TPX", "NPS1")), "p", "TPX with NPS1 is no pair"),
        (library(one("CPX", "NPS8")), "p", "CPX with NPS8 is no pair"),
        (library(one("CPX", "NPS1"), skipped=(8,)), "p", "skippedGPUs names 8"),
    ],
)
def test_a_profile_that_cannot_be(text: str, wanted: str, reason: str) -> None:
    found = partition(text, wanted, MI300X, 8)
    assert found.state == "failure"
    assert reason in found.sentence


def test_cards_are_counted_out_in_order() -> None:
    text = json.dumps(PROFILES)
    assert partition(text, "rest", MI300X, 8).counts == {"cpx_nps1": 16, "spx_nps1": 6}
    skipped = partition(text, "skip", MI300X, 8)
    assert (skipped.modes[0].name, skipped.modes[1].name) == ("spx_nps1", "dpx_nps1")
