"""The round of attachments looks little, writes once, and takes back what is no longer so."""

import json
from typing import Any

from sandbox.devices.attaching import play
from sandbox.devices.attachments import ERROR
from sandbox.devices.fabric import PRESENT, Fabric
from sandbox.devices.networks import TOLD
from sandbox.devices.ports import NICS
from sandbox.devices.view import View
from sandbox.kube import ApiError
from tests.sandbox.attachment_objects import definition, here, nv_ipam, pod, policy, pool
from tests.sandbox.device_objects import Object, node
from tests.sandbox.test_devices_fabric import MODULES, OPERATOR, SPACES

VIEW = View(namespaces=SPACES, fabric=Fabric(OPERATOR, (policy(),)))
NODE = node(modules=MODULES, more={NICS: "xe9680-8rail-cx7"})
NODE["metadata"] |= {"name": "n1", "labels": {PRESENT: "true"}}


class Cluster:
    """Lists by plural, and merge patches."""

    def __init__(self, **lists: list[Object] | None) -> None:
        self.lists: dict[str, Any] = {"network-attachment-definitions": [], "pods": [], "daemonsets": [], **lists}
        self.writes: list[str] = []
        self.asked: list[str] = []
        self.code = 0

    def items(self, _api: str, plural: str, **_query: str) -> list[Object]:
        self.asked.append(plural)
        found: list[Object] = self.lists[plural]
        return found

    def get(self, _api: str, plural: str, *_where: str | None) -> Object:
        self.asked.append(plural)
        if self.lists.get(plural) is None:
            raise ApiError(404, "not found")
        return {"items": self.lists[plural]}

    def merge(self, _api: str, plural: str, _space: str, name: str, patch: Object, sub: str = "") -> None:
        if self.code:
            raise ApiError(self.code, "no")
        self.writes.append(f"{plural}/{name}/{sub}".rstrip("/"))
        for one in self.lists[plural]:
            if sub:
                one.update(patch)
            else:
                notes = {**one["metadata"]["annotations"], **patch["metadata"]["annotations"]}
                one["metadata"]["annotations"] = {key: value for key, value in notes.items() if value is not None}


def played(cluster: Any) -> bool:
    return play(cluster, VIEW, [NODE], {"n1": here().published})


def notes(cluster: Cluster) -> dict[str, str]:
    found: dict[str, str] = cluster.lists["pods"][0]["metadata"]["annotations"]
    return found


def test_without_the_kind_or_a_pod_that_waits_little_is_asked() -> None:
    cluster = Cluster(**{"network-attachment-definitions": None})
    assert not played(cluster)
    assert cluster.asked == ["network-attachment-definitions"]
    cluster = Cluster(pods=[pod(told=[])])
    assert not played(cluster)
    assert cluster.asked == ["network-attachment-definitions", "pods"]


def test_a_pod_is_told_its_error_once_and_then_its_networks() -> None:
    cluster = Cluster(pods=[pod()])
    assert played(cluster)
    assert notes(cluster)[ERROR] == "there is no NetworkAttachmentDefinition train/rail-0"
    assert not played(cluster)
    one = definition(ipam=nv_ipam("rail-0"))
    cluster.lists |= {"network-attachment-definitions": [one], "ippools": [pool()]}
    cluster.writes.clear()
    assert played(cluster)
    assert cluster.writes == ["ippools/rail-0/status", "pods/p"]
    assert ERROR not in notes(cluster)
    assert json.loads(notes(cluster)[TOLD])[0]["ips"] == ["192.168.0.1"]
    block = {"nodeName": "n1", "startIP": "192.168.0.1", "endIP": "192.168.0.4"}
    assert cluster.lists["ippools"][0]["status"] == {"allocations": [block]}
    assert not played(cluster)


def test_a_pod_that_went_and_one_on_a_node_that_is_not_decided_wait() -> None:
    cluster = Cluster(pods=[pod(at="n9")])
    assert not played(cluster)
    cluster = Cluster(pods=[pod()])
    cluster.code = 409
    assert played(cluster)
    assert cluster.writes == []
