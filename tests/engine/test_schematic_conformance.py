"""On every document the factory's own code and ours agree on text and ID, or we refuse it with a sentence."""

from __future__ import annotations

import pytest

from gpu_platform.planning.schematic import SchematicError, canonical, schematic_id
from gpu_platform.planning.schematic_reader import parse
from tests.engine import oracles
from tests.engine.schematic_documents import Documents
from tests.planning.test_schematic import KNOWN

pytestmark = pytest.mark.engine

COUNT = 9000


def ours(text: str) -> str | None:
    """Return our canonical text; None when it is refused with a sentence."""
    try:
        return canonical(parse(text))
    except SchematicError:
        return None


def conform(seed: int, count: int) -> tuple[int, int]:
    """Compare `count` documents; return how many both took, and how many the factory took and we refused."""
    stream = Documents(seed)
    texts = [stream.text() for _ in range(count)]
    taken = refused = 0
    for text, theirs in zip(texts, oracles.schematics(texts), strict=True):
        mine = ours(text)
        if mine is None:
            refused += "id" in theirs
            continue
        assert theirs.get("schematic") == mine, text
        assert theirs["id"] == schematic_id(mine)
        taken += 1
    return taken, refused


def test_thousands_of_documents_have_the_factorys_text_and_id() -> None:
    taken, refused = conform(20261201, COUNT)
    assert taken >= 5000
    # What we refuse although the factory takes it are texts that its releases print differently.
    assert refused < COUNT * 0.25


def test_every_known_pair_is_the_factorys_too() -> None:
    texts = [canonical(schematic) for schematic, _ in KNOWN]
    answers = oracles.schematics(texts, enterprise=True)
    assert [(one["schematic"], one["id"]) for one in answers] == [
        (text, identity) for text, (_, identity) in zip(texts, KNOWN, strict=True)
    ]


def test_a_community_factory_refuses_an_owner() -> None:
    (answer,) = oracles.schematics(["owner: alice\ncustomization: {}\n"])
    assert "Enterprise" in answer["error"]
