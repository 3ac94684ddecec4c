"""Factories behind a password, a token or a proxy: what reaches them, and what never leaves."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, ClassVar

import grpc
import pytest

from sandbox import factory
from sandbox.factory.proxy import Handler
from tests.engine.dynamic_server import running
from tests.engine.serving import serving
from tests.engine.test_factory_matrix import inputs, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.state import State

pytestmark = pytest.mark.engine

CANARY = "canary-7d1e"
# No name server knows it: only a proxy can reach it.
FAR = "http://factory.invalid"


class Guarded(Handler):
    """The factory behind a door that takes one credential."""

    expected: ClassVar[str] = ""
    seen: ClassVar[list[tuple[str, str]]] = []

    def _answer(self) -> None:
        given = self.headers.get("Authorization", "")
        self.seen.append((self.path, given))
        if given != self.expected and not (self.path.startswith("/v2/") and given.startswith("Basic ")):
            self._send(401, b"unauthorized\n", "text/plain")
            return
        super()._answer()


@pytest.fixture
def guarded(healthy_factory: State, tmp_path: Path) -> Iterator[str]:
    Guarded.upstream, Guarded.mode_file = healthy_factory.ports["factory"], tmp_path / "no-fault"
    Guarded.seen.clear()
    with serving(Guarded) as url:
        yield url


@pytest.fixture
def home_with_netrc(tmp_path: Path) -> Path:
    """A home whose .netrc would answer for the factory."""
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login somebody password else\n")
    return tmp_path


def basic(name: str) -> str:
    return "Basic " + base64.b64encode(f"{name}:{CANARY}".encode()).decode()


@pytest.mark.parametrize(
    ("config", "more", "expected"),
    [
        ({"factoryToken": CANARY}, {}, f"Bearer {CANARY}"),
        ({"factoryPassword": CANARY}, {"username": "robot"}, basic("robot")),
    ],
    ids=["bearer", "basic"],
)
def test_each_call_carries_the_credential_and_nothing_else_does(
    guarded: str, home_with_netrc: Path, config: dict[str, str], more: dict[str, Any], expected: str
) -> None:
    Guarded.expected = expected
    path = home_with_netrc / "stderr"
    with path.open("w+", encoding="utf-8") as errors, running(errors, HOME=str(home_with_netrc)) as server:
        server.configure(**config)
        checked, failures = server.check(inputs(guarded, expected[:5], prewarm="true", **more))
        assert failures == []
        _, outputs = server.create(checked)
        server.read("x", outputs)
        assert CANARY not in str((checked, outputs)) + server.said()
    assert {given for where, given in Guarded.seen if not where.startswith("/v2/")} == {expected}
    # Registries take a token as the password of a basic authentication.
    assert all(given.startswith("Basic ") for where, given in Guarded.seen if where.startswith("/v2/"))
    assert outputs["installer_digest"].startswith("sha256:")


def test_a_wrong_credential_is_a_sentence_without_it(guarded: str, tmp_path: Path) -> None:
    Guarded.expected = "Bearer right"
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as errors, running(errors) as server:
        server.configure(factoryToken=CANARY)
        with pytest.raises(grpc.RpcError) as raised:
            server.create(inputs(guarded, "wrong"))
        told = sentence(str(raised.value.details()))
        assert "pulumi config set --secret gpu-platform:factoryToken" in told
        assert CANARY not in told + server.said()


@pytest.mark.parametrize("how", ["setting", "environment"])
def test_a_factory_behind_a_proxy_is_reached_through_it(healthy_factory: State, tmp_path: Path, how: str) -> None:
    proxy = factory.url(healthy_factory)
    variables = {"http_proxy": proxy} if how == "environment" else {}
    more = {"proxy_url": proxy} if how == "setting" else {}
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as errors, running(errors, **variables) as server:
        checked, failures = server.check(inputs(FAR, f"proxy-{how}", **more))
        assert failures == []
        server.create(checked)
        assert server.said() == ""


def test_without_the_proxy_it_cannot_be_reached(tmp_path: Path) -> None:
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as errors, running(errors) as server:
        with pytest.raises(grpc.RpcError) as raised:
            server.create(inputs(FAR, "no-proxy"))
        assert "cannot be reached" in sentence(str(raised.value.details()))
