"""The dynamic provider over its real server, against the real Image Factory and every fault of it."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

import pytest

from gpu_platform.planning.schematic import Schematic, canonical, schematic_id
from sandbox import factory
from tests.engine.dynamic_server import Server, running, serialized

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import grpc

    from sandbox.state import State

pytestmark = pytest.mark.engine

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
KNOWN_EXTENSION = "siderolabs/iscsi-tools"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as errors, running(errors) as started:
        yield started
        said = started.said()
    assert "Traceback" not in said
    assert "site-packages" not in said


@pytest.fixture
def fresh(healthy_factory: State, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Inputs of a document that no other test posts."""
    return inputs(healthy_factory, args=(f"test={request.node.name.replace(' ', '-')}",))


def inputs(
    state: State, *, args: tuple[str, ...] = (), extensions: tuple[str, ...] = (KNOWN_EXTENSION,)
) -> dict[str, Any]:
    text = canonical(Schematic(extra_kernel_args=args, extensions=extensions))
    return {
        "factory_url": factory.url(state),
        "talos_version": "v1.13.9",
        "schematic": text,
        "installer": f"x/metal-installer/{schematic_id(text)}:v1.13.9",
        "path": "inventory.pools.h100",
    }


def sentence(error: grpc.RpcError) -> str:
    """Return what the engine would show of an error: no traceback, no path of a machine."""
    text = str(error.details())
    assert "Traceback" not in text, text
    assert not re.search(r'File "|/site-packages/|/gpu_platform/', text), text
    return text


def test_what_state_holds_of_the_provider_is_short_and_names_module_and_class() -> None:
    pickled = base64.b64decode(serialized())
    assert len(pickled) < 100
    assert b"gpu_platform.providers.schematic" in pickled
    assert b"SchematicProvider" in pickled


def test_check_adds_the_id_so_that_a_preview_knows_it(server: Server, fresh: dict[str, Any]) -> None:
    checked, failures = server.check(fresh)
    assert failures == []
    assert checked == {**fresh, "schematic_id": schematic_id(fresh["schematic"]), "installer_digest": ""}


def test_check_leaves_what_is_not_known_yet_alone(server: Server, fresh: dict[str, Any]) -> None:
    checked, failures = server.check({**fresh, "schematic": UNKNOWN})
    assert failures == []
    assert "schematic_id" not in checked


def test_an_extension_that_the_release_lacks_is_a_failure_with_its_path(server: Server, healthy_factory: State) -> None:
    _, failures = server.check(inputs(healthy_factory, extensions=("siderolabs/iscsi-tool", KNOWN_EXTENSION)))
    assert failures == [
        (
            "inventory.pools.h100: Talos v1.13.9 has no extension siderolabs/iscsi-tool at this factory; "
            "did you mean siderolabs/iscsi-tools?"
        )
    ]


def test_create_registers_our_bytes_under_our_id(server: Server, fresh: dict[str, Any], healthy_factory: State) -> None:
    checked, _ = server.check(fresh)
    _, outputs = server.create(checked)
    assert outputs == checked
    assert server.read("x", outputs) == ("x", outputs)


def test_a_passing_fault_is_ridden_out(server: Server, fresh: dict[str, Any], healthy_factory: State) -> None:
    checked, _ = server.check(fresh)
    factory.set_fault(healthy_factory, "502-once")
    _, outputs = server.create(checked)
    assert outputs["schematic_id"] == checked["schematic_id"]


def test_a_changed_document_is_an_update_in_place(
    server: Server, fresh: dict[str, Any], healthy_factory: State
) -> None:
    olds, _ = server.check(fresh)
    news, _ = server.check(inputs(healthy_factory, args=("changed=1", *[fresh["installer"][-20:]])))
    assert server.changes(olds, olds) == (False, [])
    assert server.changes(olds, news) == (True, [])
    assert server.update(olds, news) == news


def test_refresh_puts_a_lost_document_back(server: Server, fresh: dict[str, Any], healthy_factory: State) -> None:
    checked, _ = server.check(fresh)
    server.create(checked)
    factory.set_fault(healthy_factory, "lost")
    assert server.read("x", checked) == ("x", checked)
    posts = [line for line in (healthy_factory.logs / "factory-proxy.log").read_text().splitlines() if "lost" in line]
    assert any('"POST /schematics' in line for line in posts)


def test_delete_asks_the_factory_nothing(server: Server, fresh: dict[str, Any], healthy_factory: State) -> None:
    checked, _ = server.check(fresh)
    factory.set_fault(healthy_factory, "down")
    server.delete(checked)
