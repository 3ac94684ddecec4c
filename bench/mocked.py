"""Run one Pulumi program against a mock engine: `python -m bench.mocked PROGRAM CONFIGURATION [RECORD]`.

The process imports nothing of the platform, so that a program that needs none of it does not pay for it.
"""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
from pathlib import Path
from typing import Any

import pulumi
from google.protobuf import json_format
from pulumi.runtime import config, mocks, settings, stack

STACK = "pulumi:pulumi:Stack"
UID = "11111111-2222-3333-4444-555555555555"


class Mocks(pulumi.runtime.Mocks):
    """A cluster and a factory that take everything."""

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        """Return the inputs as outputs, with the UID by which the program knows its cluster."""
        state = dict(args.inputs)
        if args.name == "kube-system":
            state["metadata"] = {"name": "kube-system", "uid": UID}
        return args.resource_id or f"{args.name}-id", state

    def call(self, args: pulumi.runtime.MockCallArgs) -> Any:
        """Refuse: the programs call no function of a provider."""
        raise NotImplementedError(args.token)


class Recorder(mocks.MockMonitor):
    """Keeps what a program registers, reads and exports: all that two programs have to agree on to be the same."""

    def __init__(self) -> None:
        super().__init__(Mocks())
        self.seen: list[dict[str, Any]] = []
        self.exported: dict[str, Any] = {}

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the name of the call on the wire
        """Record inputs and options of a resource."""
        answer = super().RegisterResource(request)  # type: ignore[no-untyped-call]
        if request.type != STACK:
            options = {"custom": request.custom, "protect": request.protect, "retain": request.retainOnDelete}
            self._record(request, answer.urn, request.object, **options, hooks=list(request.hooks.on_error))
        return answer

    def ReadResource(self, request: Any) -> Any:  # noqa: N802 - the name of the call on the wire
        """Record that a resource is read."""
        answer = super().ReadResource(request)  # type: ignore[no-untyped-call]
        options = {"custom": True, "protect": False, "retain": False, "hooks": []}
        self._record(request, answer.urn, request.properties, **options, id=request.id)
        return answer

    def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802 - the name of the call on the wire
        """Record what the stack exports."""
        if STACK in request.urn.split("::"):
            self.exported = json_format.MessageToDict(request.outputs)
        return super().RegisterResourceOutputs(request)  # type: ignore[no-untyped-call]

    def _record(self, request: Any, urn: str, inputs: Any, **options: Any) -> None:
        values = json_format.MessageToDict(inputs)
        values.pop("__provider", None)  # the pickled class, which each program has of its own
        names = {"urn": urn, "type": request.type, "name": request.name, "parent": request.parent}
        links = {"dependencies": sorted(request.dependencies), "provider": request.provider}
        self.seen.append({**names, **links, "inputs": values, "id": None, **options})


def main(program: str, configuration: str, record: str | None = None) -> None:
    """Run the program as Pulumi's language host does, stack outputs included."""
    monitor = Recorder() if record else mocks.MockMonitor(Mocks())
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    pulumi.runtime.set_mocks(Mocks(), project="gpu-platform", stack="bench", preview=False, monitor=monitor)
    # Mocks come with a stack that takes no outputs any more; the host's way of running makes its own.
    settings.ROOT.set(None)
    config.set_all_config(json.loads(Path(configuration).read_text(encoding="utf-8")))

    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    loop.run_until_complete(stack.run_in_stack(run))
    if isinstance(monitor, Recorder) and record:
        said = {"resources": monitor.seen, "outputs": monitor.exported}
        Path(record).write_text(json.dumps(said), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
