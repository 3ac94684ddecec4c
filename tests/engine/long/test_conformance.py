"""The long form of the comparison with the factory's own code: half a million documents."""

from __future__ import annotations

import pytest

from tests.engine.test_schematic_conformance import conform

pytestmark = pytest.mark.long


@pytest.mark.parametrize("piece", range(100))
def test_five_thousand_documents_of_a_seed(piece: int, seed: int) -> None:
    taken, _ = conform(seed + piece, 5000)
    assert taken > 2500
