"""Every fault of the factory at preview, up, refresh and destroy of a whole stack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from sandbox import factory
from sandbox.processes import free_ports
from tests.engine.factory_faults import FAULTS, Fault
from tests.engine.test_factory_faults import POOLS, schematics

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.state import State
    from tests.engine.pulumi_stack import Done, Stack

pytestmark = pytest.mark.long


def clean(done: Done) -> str:
    assert "Traceback" not in done.text, done.text
    assert not re.search(r'File "|/site-packages/|/gpu_platform/', done.text), done.text
    return done.text


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack]) -> Stack:
    made = make_stack("matrix")
    config = made.config()
    config["gpu-platform:cluster"]["phase"] = "image"
    config["gpu-platform:image"]["factory"] |= {"timeoutSeconds": 2, "retries": 1}
    return made.write({**config, "gpu-platform:inventory": POOLS})


@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", [one for one in FAULTS if one.mode != "url:tls"], ids=lambda one: one.name)
def test_each_fault_at_each_command(fault: Fault, stack: Stack, healthy_factory: State) -> None:
    kept = stack.config()
    if fault.mode == "url:refused":
        url = f"http://127.0.0.1:{free_ports(1)[0]}"
        image = kept["gpu-platform:image"]
        stack.write({**kept, "gpu-platform:image": {**image, "factory": {**image["factory"], "url": url}}})
    else:
        factory.set_fault(healthy_factory, fault.mode)
    try:
        preview, up = stack.preview(), stack.up()
        assert (preview.code == 0) == (not fault.preview)
        assert (fault.preview or fault.warns) in clean(preview)
        assert (up.code == 0) == (not fault.up)
        assert fault.up in clean(up)
        assert schematics(stack) == ([] if fault.up else ["h100"])
        if fault.mode != "url:refused":
            factory.set_fault(healthy_factory, "none")
            stack.up().ok()
            factory.set_fault(healthy_factory, fault.mode)
            refresh = stack.refresh()
            assert (refresh.code == 0) == (not fault.refresh)
            assert fault.refresh in clean(refresh)
            assert schematics(stack) == ["h100"]
        clean(stack.destroy())
        assert schematics(stack) == []
    finally:
        factory.set_fault(healthy_factory, "none")
        stack.write(kept)
        stack.destroy()
