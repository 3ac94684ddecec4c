"""Every fault of the factory against every call of the provider, over its own server."""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from gpu_platform.planning.schematic import Schematic, canonical, schematic_id
from sandbox import factory
from sandbox.factory.proxy import Handler
from sandbox.pki import Authority
from sandbox.processes import free_ports
from tests.engine.dynamic_server import Server, running
from tests.engine.factory_faults import FAULTS, Fault, as_markdown
from tests.engine.serving import serving
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sandbox.state import State

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("tls")
    Authority(directory, "ca").issue("server", "factory", server=True)
    return directory


@pytest.fixture(scope="module")
def tls_url(sandbox: State, authority: Path) -> Iterator[str]:
    """The factory behind a certificate of an authority that nobody trusts."""
    Handler.upstream, Handler.mode_file = sandbox.ports["factory"], authority / "no-fault"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority / "server.crt", authority / "server.key")
    with serving(Handler, context) as url:
        yield url


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with (tmp_path / "stderr").open("w+", encoding="utf-8") as errors, running(errors) as started:
        yield started


def sentence(text: str) -> str:
    """Return an error text after a look for what must not be in it."""
    assert "Traceback" not in text, text
    assert not re.search(r'File "|/site-packages/|/gpu_platform/|/(?:home|root|tmp)/', text), text
    return text


def inputs(url: str, name: str, **more: Any) -> dict[str, Any]:
    """Return the inputs of a document that no other test posts."""
    text = canonical(Schematic(extra_kernel_args=(f"test={name}",), extensions=("siderolabs/iscsi-tools",)))
    return {
        "factory_url": url,
        "talos_version": "v1.13.9",
        "schematic": text,
        "installer": f"x/metal-installer/{schematic_id(text)}:v1.13.9",
        "path": "inventory.pools.a",
        "timeout_seconds": 2,
        "retries": 1,
        **more,
    }


def call(action: Any, expected: str) -> None:
    """Do it; it succeeds exactly when nothing is expected to be said."""
    if not expected:
        action()
        return
    with pytest.raises(grpc.RpcError) as raised:
        action()
    assert expected in sentence(str(raised.value.details()))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_fault_at_each_call(fault: Fault, server: Server, healthy_factory: State, tls_url: str) -> None:
    urls = {"url:refused": f"http://127.0.0.1:{free_ports(1)[0]}", "url:tls": tls_url}
    props = inputs(urls.get(fault.mode, factory.url(healthy_factory)), schematic_id(fault.name)[:12])
    factory.set_fault(healthy_factory, "none" if fault.mode in urls else fault.mode)
    for _ in range(2):
        checked, failures = server.check(props)
        assert bool(failures) == bool(fault.preview)
        assert all(fault.preview in sentence(one) for one in failures)
        assert checked["schematic_id"] == schematic_id(props["schematic"])
    warned = [line for line in server.said().splitlines() if line.startswith("warning: ")]
    assert len(warned) == bool(fault.warns), warned
    assert all(fault.warns in sentence(line) for line in warned)
    # What fails in a preview fails an up before anything is asked of the factory.
    call(lambda: server.create(checked), "" if fault.preview else fault.up)
    factory.set_fault(healthy_factory, "none")
    if fault.mode not in urls:
        server.create(checked)
    factory.set_fault(healthy_factory, "none" if fault.mode in urls else fault.mode)
    call(lambda: server.read("x", checked), fault.refresh)
    server.delete(checked)


def test_the_document_of_reliability_shows_this_table() -> None:
    assert as_markdown() in (PROJECT / "docs" / "reliability.md").read_text(encoding="utf-8")


def test_an_authority_of_ones_own_is_trusted_when_it_is_named(server: Server, tls_url: str, authority: Path) -> None:
    checked, failures = server.check(inputs(tls_url, "own-ca", ca_file=str(authority / "ca.crt")))
    assert failures == []
    server.create(checked)
    assert server.said() == ""
    with pytest.raises(grpc.RpcError) as raised:
        server.create({**checked, "ca_file": "nowhere.crt"})
    assert "the CA file of image.factory.caFile cannot be read" in sentence(str(raised.value.details()))
