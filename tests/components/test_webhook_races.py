"""The error hook waits for webhooks that start, for a bounded time, and for nothing else."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from components import webhook_races

BOUND = webhook_races.BOUND_SECONDS
WEBHOOK = 'Internal error occurred: failed calling webhook "x.example.com": no endpoints available for service "x"'


@pytest.fixture
def decide(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The hook's function, with a clock that moves only when it pauses."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(time, "monotonic", lambda: clock.now)
    monkeypatch.setattr(time, "sleep", lambda seconds: setattr(clock, "now", clock.now + seconds))
    monkeypatch.setattr(pulumi, "ErrorHook", lambda name, function: SimpleNamespace(name=name, decide=function))
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: False)
    return webhook_races.retry_while_webhooks_start()


def failure(text: str, urn: str = "a") -> Any:
    return SimpleNamespace(urn=urn, errors=[text])


def test_the_name_is_part_of_every_state(decide: Any) -> None:
    assert decide.name == "retry-while-webhooks-start"


def test_it_retries_for_a_minute_and_then_lets_the_engine_say_why(decide: Any) -> None:
    tries = 0
    while decide.decide(failure(WEBHOOK)):
        tries += 1
    assert tries == pytest.approx(BOUND / webhook_races.PAUSE_SECONDS, abs=1)


def test_each_resource_has_its_own_minute(decide: Any) -> None:
    while decide.decide(failure(WEBHOOK, "a")):
        pass
    assert decide.decide(failure(WEBHOOK, "b"))


def test_other_errors_are_not_retried(decide: Any) -> None:
    assert not decide.decide(failure("namespaces is forbidden"))


def test_previews_are_not_held_up(decide: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulumi.runtime, "is_dry_run", lambda: True)
    assert not decide.decide(failure(WEBHOOK))
