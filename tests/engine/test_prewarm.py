"""Installers are really built by the factory at `up`, and their digests are those of its registry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest
import requests

from gpu_platform.planning.schematic import Schematic, canonical, schematic_id
from sandbox import factory
from tests.engine.dynamic_server import Server, running
from tests.engine.test_factory_matrix import inputs, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.state import State

pytestmark = pytest.mark.engine


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as errors, running(errors) as started:
        yield started


def props(state: State, request: pytest.FixtureRequest) -> dict[str, Any]:
    name = request.node.name.replace("[", "-").strip("]")
    return inputs(factory.url(state), name, prewarm="true")


def in_registry(state: State, installer: str) -> str:
    """Return the digest under which the registry behind the factory keeps an installer."""
    path, tag = installer.partition("/")[2].rsplit(":", 1)
    url = f"http://127.0.0.1:{state.ports['registry']}/v2/siderolabs/{path}/manifests/{tag}"
    return requests.head(url, timeout=10).headers["Docker-Content-Digest"]


def test_the_digest_is_not_known_before_it_is_built(
    server: Server, healthy_factory: State, request: pytest.FixtureRequest
) -> None:
    checked, _ = server.check(props(healthy_factory, request))
    assert "installer_digest" not in checked
    _, outputs = server.create(checked)
    assert outputs["installer_digest"] == in_registry(healthy_factory, checked["installer"])
    assert outputs["installer_digest"].startswith("sha256:")


@pytest.mark.parametrize(
    ("mode", "says"),
    [("slow-once:4", "s so far; the first build takes minutes)"), ("404-once", "does not know x/metal-installer/")],
)
def test_what_takes_time_is_said_and_waited_for(
    server: Server, healthy_factory: State, request: pytest.FixtureRequest, mode: str, says: str
) -> None:
    checked, _ = server.check(props(healthy_factory, request))
    factory.set_fault(healthy_factory, mode)
    _, outputs = server.create(checked)
    assert outputs["installer_digest"] == in_registry(healthy_factory, checked["installer"])
    assert says in server.said()


def test_a_build_that_fails_is_told_in_the_factorys_words(
    server: Server, healthy_factory: State, request: pytest.FixtureRequest
) -> None:
    text = canonical(Schematic(extensions=("siderolabs/no-such-thing",)))
    ours = {"schematic": text, "installer": f"x/metal-installer/{schematic_id(text)}:v1.13.9"}
    with pytest.raises(grpc.RpcError) as raised:
        server.create({**props(healthy_factory, request), **ours})
    told = sentence(str(raised.value.details()))
    assert 'official extension "siderolabs/no-such-thing" is not available for Talos version v1.13.9' in told
    assert "it answered 400" in told
