"""Run the whole program against a recording monitor: what it registers, with which options."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import runpy
import warnings
from typing import Any

import pulumi
from google.protobuf import json_format
from pulumi.runtime import config, mocks, settings, stack
from pulumi.runtime.settings import reset_options

from tests.stack_files import PROJECT

UID = "11111111-2222-3333-4444-555555555555"


class Mocks(pulumi.runtime.Mocks):
    """A cluster and a factory that take everything."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        """Return the inputs as outputs, with what the real engines would add."""
        state = dict(args.inputs)
        if args.name == "kube-system":
            state["metadata"] = {"name": "kube-system", "uid": UID}
        return args.resource_id or f"{args.name}-id", state

    def call(self, args: pulumi.runtime.MockCallArgs) -> Any:
        """Refuse: the program calls no function of a provider."""
        raise AssertionError(f"the program called {args.token}")


class Recorder(mocks.MockMonitor):
    """Keeps the raw requests, where options can be read."""

    def __init__(self) -> None:
        super().__init__(Mocks())
        self.requests: list[Any] = []

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the call on the wire
        """Record, then answer as the mocks say."""
        self.requests.append(request)
        return super().RegisterResource(request)  # type: ignore[no-untyped-call]


class Registered:
    """One resource that the program registered."""

    def __init__(self, request: Any, urn: str) -> None:
        self.type, self.name, self.urn, self.request = request.type, request.name, urn, request
        self.inputs: dict[str, Any] = json_format.MessageToDict(request.object)

    def __repr__(self) -> str:
        return f"{self.type} {self.name}"


def run(document: dict[str, Any], *, preview: bool = False) -> list[Registered]:
    """Run `__main__.py` with `document` as its configuration; raises what the program raises."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    recorder = Recorder()
    secret = [f"gpu-platform:{key}" for key, value in document.items() if isinstance(value, dict) and "secure" in value]
    plain = {
        f"gpu-platform:{key}": value["secure"] if f"gpu-platform:{key}" in secret else json.dumps(value)
        for key, value in document.items()
    }
    try:
        pulumi.runtime.set_mocks(Mocks(), project="gpu-platform", stack="test", preview=preview, monitor=recorder)
        config.set_all_config(plain, secret)
        runpy.run_path(str(PROJECT / "__main__.py"))
        loop.run_until_complete(stack.wait_for_rpcs())
        made = [one for one in recorder.requests if one.type != "pulumi:pulumi:Stack"]
        return [Registered(one, recorder.make_urn(one.parent, one.type, one.name)) for one in made]
    finally:
        for task in asyncio.all_tasks(loop):
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):  # its way of ending the server of hooks
            loop.run_until_complete(settings._shutdown_callbacks())  # type: ignore[no-untyped-call]
        config.set_all_config({}, [])
        reset_options()
        with warnings.catch_warnings():
            # The SDK leaves event loops of its threads, and calls of a program that failed, to the collector.
            warnings.simplefilter("ignore")
            loop.run_until_complete(loop.shutdown_default_executor())
            loop.close()
            asyncio.set_event_loop(None)
            gc.collect()
