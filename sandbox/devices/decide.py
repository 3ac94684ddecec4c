"""The decision about one node: labels, resources, and the sentence that says why."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.devices import amd, gaudi, nvidia
from sandbox.devices.discovery import discover
from sandbox.devices.hardware import AMD, DEVICES, HABANA, NVIDIA, machine

if TYPE_CHECKING:
    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.view import View


@dataclass(frozen=True)
class Published:
    """What the simulator puts on one node; everything else that it put there before goes."""

    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    resources: dict[str, str] = field(default_factory=dict)
    # None: the operator has no business with the node; False: it tries and fails.
    ready: bool | None = None
    slices: tuple[Object, ...] = ()


_OTHERS = {AMD: amd.play, HABANA: gaudi.play}


def decide(view: View, node: Object) -> Published:
    """Return what is published on a node under this view of the cluster."""
    here = machine(node)
    if here.failure:
        return Published(annotations={DEVICES: here.failure})
    if here.model and here.system == "talos" and not here.release:
        return Published(annotations={DEVICES: "the machine has not booted"})
    discovered = discover(view, here)
    if not here.model:
        return Published(discovered.labels)
    if here.card is None:
        return _silent(discovered.labels, f"the simulator does not know the model {here.model}")
    if play := _OTHERS.get(here.card.pci["vendor"]):
        done = play(view, here, here.card, discovered)
        labels, notes = discovered.labels | done.labels, {DEVICES: done.sentence}
        return Published(labels, notes, done.resources, slices=done.slices)
    if discovered.reason:
        return _silent(discovered.labels, discovered.reason)
    if here.card.pci["vendor"] != NVIDIA:
        return _silent(discovered.labels, f"the simulator plays no operator for {here.card.product}")
    return _operated(view, here, here.card, discovered.labels)


def _operated(view: View, here: Machine, card: Card, discovered: dict[str, str]) -> Published:
    if reason := nvidia.obstacle(view, here, card, discovered):
        tries = nvidia.recognised(discovered) and view.policy is not None
        return Published(discovered, {DEVICES: reason}, ready=False if tries else None)
    policy = view.policy
    assert policy is not None  # noqa: S101 - without one there is an obstacle
    cut = nvidia.partition(view, policy, here, card)
    resources = nvidia.resources(policy, here, cut)
    sentence = cut.sentence if cut else f"{here.count} GPUs published"
    if not resources and not cut:
        sentence = "devicePlugin.enabled is false: no nvidia.com/gpu is handed out"
    return Published(discovered | nvidia.labels(policy, here, card, cut), {DEVICES: sentence}, resources, ready=True)


def _silent(labels: dict[str, str], reason: str) -> Published:
    return Published(labels, {DEVICES: reason})
