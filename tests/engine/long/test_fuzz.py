"""The long form of the fuzz: twenty thousand and more broken stack files, in pieces that the ledger tells apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as with_seed

from tests.planning.test_all_findings_at_once import BASES, broken, check

pytestmark = pytest.mark.long

PIECES, EACH = 20, 300


@pytest.mark.timeout(600)
@pytest.mark.parametrize("piece", range(PIECES))
@pytest.mark.parametrize("base", BASES.values(), ids=list(BASES))
def test_broken_documents_end_in_findings_or_a_plan(base: dict[str, Any], piece: int, seed: int) -> None:
    @with_seed(seed + piece)
    @settings(
        max_examples=EACH,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(broken(base))
    def one(document: dict[str, Any]) -> None:
        check(document)

    one()
