"""The decision about one node: labels, resources, and the sentence that says why."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from sandbox.devices import amd, dra, dranet, gaudi, nvidia
from sandbox.devices.discovery import discover
from sandbox.devices.fabric import rails
from sandbox.devices.hardware import AMD, DEVICES, HABANA, PREFIX, machine
from sandbox.devices.ports import ports
from sandbox.devices.sharing import PluginError
from sandbox.devices.slices import slice_of

if TYPE_CHECKING:
    from sandbox.devices.fabric import Rails
    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.partition import Cut
    from sandbox.devices.ports import Port
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
    # Of the network cards: what the kubelet gives to pods, by resource, and every function.
    devices: dict[str, tuple[Port, ...]] = field(default_factory=dict)
    functions: tuple[Port, ...] = ()


# One sentence for people, of a machine's rails.
RAILS = PREFIX + "fabric"
_OTHERS = {AMD: amd.play, HABANA: gaudi.play}


def decide(view: View, node: Object) -> Published:
    """Return what is published on a node under this view of the cluster: cards, and rails beside them."""
    here = machine(node)
    cards, there = _cards(view, here), ports(here.notes)
    labels = {**here.labels, **cards.labels}
    found = rails(view.fabric, view.namespaces, here, there, labels)
    claims = dranet.claims(view.dranet, view.namespaces, here, there, {**labels, **found.labels})
    sentence = _of_fabric(found, claims)
    slices = (slice_of(dranet.DRIVER, here.name, list(claims.devices), here.uid),) if claims and claims.devices else ()
    return replace(
        cards,
        labels={**cards.labels, **found.labels},
        annotations={**cards.annotations, **({RAILS: sentence} if sentence else {})},
        resources={**cards.resources, **found.resources},
        slices=(*cards.slices, *slices),
        devices=found.devices,
        functions=found.functions,
    )


def _of_fabric(found: Rails, claims: dranet.Claims | None) -> str:
    """Return one sentence about a machine's network cards, whoever hands them out."""
    if claims is None:
        return found.sentence
    told = claims.trouble or f"{len(claims.devices)} ports published for claims"
    if found.resources and claims.devices:
        return f"handed out twice: {found.sentence}, and {told}"
    return f"{found.sentence}; {told}" if found.sentence else told


def _cards(view: View, here: Machine) -> Published:
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
    return _nvidia(view, here, here.card, discovered.labels)


def _nvidia(view: View, here: Machine, card: Card, discovered: dict[str, str]) -> Published:
    """Return what the operator and the DRA driver, each for itself, publish of a machine's cards."""
    cut = nvidia.partition(view, view.policy, here, card) if view.policy else None
    operated = _operated(view, here, card, discovered, cut)
    claims = dra.claims(view, here, card, operated.labels, cut.gpus if cut else ())
    if claims is None:
        return operated
    slices = (slice_of(dra.DRIVER, here.name, list(claims.devices), here.uid),) if claims.devices else ()
    sentence = _both(operated, claims)
    return replace(operated, annotations={DEVICES: sentence}, slices=slices)


def _both(operated: Published, claims: dra.Claims) -> str:
    """Return one sentence of two: a fault of the operator is not hidden behind devices, nor the other way round."""
    said = operated.annotations[DEVICES]
    told = claims.trouble or f"{len(claims.devices)} devices published for claims"
    if operated.resources and claims.devices:
        return f"handed out twice: {said}, and {told}"
    if said != told and (operated.resources or operated.ready is False):
        return f"{told}; {said}" if claims.devices else f"{said}; {told}"
    return told


def _operated(view: View, here: Machine, card: Card, discovered: dict[str, str], cut: Cut | None) -> Published:
    if reason := nvidia.obstacle(view, here, card, discovered):
        tries = nvidia.recognised(discovered) and view.policy is not None and not nvidia.opts_out(here)
        return Published(discovered, {DEVICES: reason}, ready=False if tries else None)
    policy = view.policy
    assert policy is not None  # noqa: S101 - without one there is an obstacle
    labels = discovered | nvidia.labels(policy, here, card, cut)
    try:
        shared = nvidia.resources(view, policy, here, cut)
    except PluginError as error:
        return Published(labels, {DEVICES: f"the device plugin does not start: {error}"}, ready=False)
    sentence = cut.sentence if cut else f"{here.count} GPUs published"
    if shared.sentence:
        sentence = f"{sentence}, {shared.sentence}"
    if "nvidia.com/gpu.product" in labels:  # what sharing does to labels is feature discovery's to say
        labels |= shared.labels
        labels["nvidia.com/gpu.product"] += "-SHARED" if shared.suffix else ""
    if not nvidia.deployed(policy, here, "device-plugin"):
        sentence = "no device plugin runs here: no nvidia.com/gpu is handed out"
    return Published(labels, {DEVICES: sentence}, shared.resources, ready=True)


def _silent(labels: dict[str, str], reason: str) -> Published:
    return Published(labels, {DEVICES: reason})
