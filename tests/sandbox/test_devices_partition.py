"""What the simulator makes of a request for slices; its own arithmetic, from the card's size alone."""

from __future__ import annotations

import pytest
import yaml

from sandbox.devices.hardware import cards
from sandbox.devices.partition import cut, fits

H100 = cards()["h100-sxm-80gb"]
LIBRARY = yaml.safe_dump(
    {
        "version": "v1",
        "mig-configs": {
            "all-disabled": [{"devices": "all", "mig-enabled": False, "mig-devices": {}}],
            "serve": [{"devices": "all", "mig-enabled": True, "mig-devices": {"3g.40gb": 1, "2g.20gb": 2}}],
            "sevens": [{"devices": "all", "mig-enabled": True, "mig-devices": {"1g.10gb": 7}}],
            "half": [
                {"devices": [0, 1], "mig-enabled": True, "mig-devices": {"1g.10gb+me": 1}},
                {"devices": [2, 3], "mig-enabled": False},
            ],
            "too-much": [{"devices": "all", "mig-enabled": True, "mig-devices": {"3g.40gb": 2, "1g.10gb": 1}}],
            "misspelt": [{"devices": "all", "mig-enable": True}],
            "fifth": [{"devices": [4], "mig-enabled": True, "mig-devices": {"7g.80gb": 1}}],
        },
    }
)


@pytest.mark.parametrize(
    ("wanted", "strategy", "resources"),
    [
        ("all-disabled", "mixed", {"nvidia.com/gpu": "4"}),
        ("serve", "mixed", {"nvidia.com/mig-2g.20gb": "8", "nvidia.com/mig-3g.40gb": "4"}),
        ("half", "mixed", {"nvidia.com/gpu": "2", "nvidia.com/mig-1g.10gb.me": "2"}),
        ("sevens", "single", {"nvidia.com/gpu": "28"}),
        ("serve", "single", {}),
        ("half", "single", {}),
        ("all-disabled", "single", {"nvidia.com/gpu": "4"}),
        ("serve", "none", {"nvidia.com/gpu": "4"}),
    ],
)
def test_what_is_handed_out(wanted: str, strategy: str, resources: dict[str, str]) -> None:
    done = cut(LIBRARY, wanted, H100, 4, strategy)
    assert (done.state, done.resources) == ("success", resources)


@pytest.mark.parametrize(
    ("library", "wanted", "why"),
    [
        (None, "serve", "is not there"),
        ("a: [", "serve", "not one of version v1"),
        (LIBRARY.replace("v1", "v2"), "serve", "not one of version v1"),
        (LIBRARY, "other", "has no other"),
        (LIBRARY, "too-much", "cannot be cut into 1g.10gb, 3g.40gb, 3g.40gb"),
        (LIBRARY, "misspelt", "unknown key mig-enable"),
        (LIBRARY, "fifth", "there is no GPU 4"),
    ],
)
def test_a_request_that_fails_leaves_the_cards_whole(library: str | None, wanted: str, why: str) -> None:
    done = cut(library, wanted, H100, 4, "mixed")
    assert (done.state, done.resources) == ("failed", {"nvidia.com/gpu": "4"})
    assert why in done.sentence


@pytest.mark.parametrize(
    ("model", "profiles", "possible"),
    [
        ("h100-sxm-80gb", ["1g.20gb"] * 4, True),
        ("h100-sxm-80gb", ["1g.20gb"] * 4 + ["1g.10gb"], False),
        ("h100-sxm-80gb", ["3g.71gb"], False),
        ("h100-sxm-80gb", ["1g.10gb+me"] * 2, False),
        ("h200-sxm-141gb", ["4g.71gb", "3g.71gb"], True),
        ("a30-24gb", ["2g.12gb", "1g.6gb", "1g.6gb"], True),
        ("a30-24gb", ["2g.12gb", "2g.12gb", "1g.6gb"], False),
        ("a30-24gb", ["7g.80gb"], False),
    ],
)
def test_what_fits_a_card(model: str, profiles: list[str], possible: bool) -> None:
    assert fits(cards()[model], profiles) == possible
