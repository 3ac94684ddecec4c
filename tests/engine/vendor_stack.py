"""A stack of three vendors in the sandbox, and what the cluster says that its nodes hand out."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox import factory, nodes, overlay
from sandbox.devices.boot import boot
from sandbox.devices.hardware import DEVICES
from sandbox.engine import engines
from sandbox.kube import until
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

FILE = Path(__file__).with_name("vendors.yaml")
DRA_API = "resource.k8s.io/v1"
VENDORS = ("nvidia.com/", "amd.com/", "habana.ai/")


@contextmanager
def vendor_stack(made: Stack, kube: Kube, sandbox: State) -> Iterator[Stack]:
    """Bring the machines of the stack file beside those that are there, run `up`, boot them; all gone afterwards."""
    own = nodes.inventory(PROJECT / "Pulumi.sandbox.yaml")
    more = [one for one in nodes.inventory(FILE) if one.pool != "system"]
    kubelet = engines()["kubernetes"].version
    nodes.bring(kube, [*own, *more], kubelet)
    made.write(overlay.config(sandbox, FILE)).up().ok()
    boot(kube, made.outputs(), factory.url(sandbox))
    yield made
    # Before the machines go: the patches of nodes are taken back from nodes that are there.
    made.destroy().ok()
    nodes.bring(kube, own, kubelet)


def counted(kube: Kube, name: str) -> dict[str, int]:
    """Return the vendors' extended resources of a node."""
    allocatable = kube.get("v1", "nodes", None, name)["status"]["allocatable"]
    return {key: int(count) for key, count in allocatable.items() if key.startswith(VENDORS) and int(count)}


def claimed(kube: Kube, name: str) -> dict[str, int]:
    """Return the devices that drivers tell of on a node, by the class that a claim would name."""
    slices = [one for one in kube.items(DRA_API, "resourceslices") if one["spec"]["nodeName"] == name]
    found: Counter[str] = Counter()
    for one in slices:
        for device in one["spec"]["devices"]:
            cut = device["attributes"].get("type", {}).get("string") == "mig"
            found["mig.nvidia.com" if cut else one["spec"]["driver"]] += 1
    return dict(found)


def sentence(kube: Kube, name: str) -> str:
    return str(kube.get("v1", "nodes", None, name)["metadata"]["annotations"].get(DEVICES, ""))


def as_planned(kube: Kube, stack: Stack) -> None:
    for name, node in stack.outputs()["nodes"].items():
        expected = (node["resources"], node["devices"])
        try:
            until(name, lambda: (counted(kube, name), claimed(kube, name)) == expected, timeout=60)  # noqa: B023
        except Exception as error:
            found = (counted(kube, name), claimed(kube, name))
            raise AssertionError(f"{name}: {found} is not {expected}: {sentence(kube, name)}") from error
