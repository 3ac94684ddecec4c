"""The provider's own server, `python -m pulumi.dynamic`, spoken to over gRPC as the engine does."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import json_format, struct_pb2
from pulumi.dynamic.dynamic import serialize_provider
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from gpu_platform.providers.schematic import SchematicProvider
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

URN = "urn:pulumi:test::gpu-platform::pulumi-python:dynamic/gpu-platform:Schematic::h100"


def serialized() -> str:
    """Return the provider as it stands in every stack's state."""
    return str(serialize_provider(SchematicProvider()))


class Server:
    """A running server; each call returns plain dictionaries, errors are grpc.RpcError."""

    def configure(self, **config: str) -> None:
        """Hand over the stack's configuration, keys of our namespace by their short names."""
        variables = {f"gpu-platform:{key}": value for key, value in config.items()}
        self._stub.Configure(provider_pb2.ConfigureRequest(args=_struct(variables)))

    def __init__(self, channel: grpc.Channel, errors: Any) -> None:
        self._stub = provider_pb2_grpc.ResourceProviderStub(channel)
        self._errors = errors

    def check(self, news: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """Return the checked inputs and the reasons of failures."""
        answer = self._stub.Check(provider_pb2.CheckRequest(urn=URN, olds=_struct({}), news=_struct(news)))
        return _plain(answer.inputs), [one.reason for one in answer.failures]

    def changes(self, olds: dict[str, Any], news: dict[str, Any]) -> tuple[bool, list[str]]:
        """Return whether something differs, and what makes it a replacement."""
        answer = self._stub.Diff(provider_pb2.DiffRequest(id="x", urn=URN, olds=_struct(olds), news=_struct(news)))
        return answer.changes == provider_pb2.DiffResponse.DIFF_SOME, list(answer.replaces)

    def create(self, props: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return ID and outputs."""
        answer = self._stub.Create(provider_pb2.CreateRequest(urn=URN, properties=_struct(props)))
        return answer.id, _plain(answer.properties)

    def read(self, identity: str, props: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return ID and outputs after a look at the factory."""
        answer = self._stub.Read(provider_pb2.ReadRequest(id=identity, urn=URN, properties=_struct(props)))
        return answer.id, _plain(answer.properties)

    def update(self, olds: dict[str, Any], news: dict[str, Any]) -> dict[str, Any]:
        """Return the new outputs."""
        answer = self._stub.Update(provider_pb2.UpdateRequest(id="x", urn=URN, olds=_struct(olds), news=_struct(news)))
        return _plain(answer.properties)

    def delete(self, props: dict[str, Any]) -> None:
        """Forget the resource."""
        self._stub.Delete(provider_pb2.DeleteRequest(id="x", urn=URN, properties=_struct(props)))

    def said(self) -> str:
        """Return what the process has printed for people so far."""
        self._errors.flush()
        self._errors.seek(0)
        return str(self._errors.read())


@contextlib.contextmanager
def running(errors: Any, **variables: str) -> Iterator[Server]:
    """Start a server whose standard error goes to the file `errors`, with further environment variables."""
    words = [sys.executable, "-u", "-m", "pulumi.dynamic"]
    env = {**os.environ, **variables}
    with subprocess.Popen(words, cwd=PROJECT, env=env, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        assert process.stdout is not None
        try:
            with grpc.insecure_channel(f"127.0.0.1:{process.stdout.readline().strip()}") as channel:
                yield Server(channel, errors)
        finally:
            process.kill()


def _struct(values: dict[str, Any]) -> struct_pb2.Struct:
    struct = struct_pb2.Struct()
    struct.update({**values, "__provider": serialized()})
    return struct


def _plain(struct: struct_pb2.Struct) -> dict[str, Any]:
    values: dict[str, Any] = json_format.MessageToDict(struct)
    values.pop("__provider", None)
    return values
