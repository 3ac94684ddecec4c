"""The round of attachments: look at pods that wait for networks, and write what they get."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sandbox.devices.attachments import ERROR, Verdict, asks, judge
from sandbox.devices.cni import Here, Scene
from sandbox.devices.hardware import machine
from sandbox.devices.networks import TOLD
from sandbox.devices.others import listed
from sandbox.devices.pools import API, CIDR_POOLS, IP_POOLS
from sandbox.kube import ApiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.decide import Published
    from sandbox.devices.hardware import Object
    from sandbox.devices.view import View
    from sandbox.kube import Kube

_DEFINITIONS = ("k8s.cni.cncf.io/v1", "network-attachment-definitions")
_BOUND = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"


def play(kube: Kube, view: View, nodes: Iterable[Object], published: dict[str, Published]) -> bool:
    """Give networks to pods that wait for them, `published` by node; tell whether anything was written."""
    definitions = listed(kube, *_DEFINITIONS)
    if definitions is None:  # without the kind nobody can ask
        return False
    pods = [one for one in kube.items("v1", "pods", fieldSelector=_BOUND, resourceVersion="0") if asks(one)]
    if all(TOLD in one["metadata"]["annotations"] for one in pods):
        return False
    there = {one["metadata"]["name"]: one for one in nodes}
    scene = _scene(kube, view, definitions, there)

    @cache
    def here(name: str) -> Here | None:
        if name not in there or name not in published:
            return None
        labels = there[name]["metadata"].get("labels") or {}
        return Here(machine(there[name]), {**labels, **published[name].labels}, published[name])

    verdicts, ledger = judge(scene, pods, here)
    for plural, place in sorted(ledger.changed):
        space, _, name = place.partition("/")
        status = {"allocations": ledger.allocations[plural, place]}
        kube.merge(API, plural, space, name, {"status": status}, sub="status")
    wrote = [_write(kube, one) for one in verdicts]
    return any(wrote) or bool(ledger.changed)


def _scene(kube: Kube, view: View, definitions: list[Object], nodes: dict[str, Object]) -> Scene:
    return Scene(
        namespaces=view.namespaces,
        fabric=view.fabric,
        daemon_sets=tuple(kube.items("apps/v1", "daemonsets", resourceVersion="0")),
        definitions=_by_key(definitions),
        ip_pools=_by_key(listed(kube, API, IP_POOLS) or ()),
        cidr_pools=_by_key(listed(kube, API, CIDR_POOLS) or ()),
        nodes=frozenset(nodes),
    )


def _by_key(found: Iterable[Object]) -> dict[str, Object]:
    return {f"{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in found}


def _write(kube: Kube, verdict: Verdict) -> bool:
    metadata = verdict.pod["metadata"]
    notes = metadata["annotations"]
    if verdict.error and notes.get(ERROR) == verdict.error:
        return False
    wanted = {ERROR: verdict.error or None, **({TOLD: verdict.status} if verdict.status else {})}
    # With its uid: another pod of this name has networks of its own.
    patch = {"metadata": {"uid": metadata["uid"], "annotations": wanted}}
    try:
        kube.merge("v1", "pods", metadata["namespace"], metadata["name"], patch)
    except ApiError as error:
        if error.code not in {404, 409}:
            raise
    return True
