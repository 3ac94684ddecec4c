"""Definitions that the SR-IOV operator makes of its networks, and pods that get VFs by them."""

import json
from typing import Any

from sandbox.devices.networks import RESOURCE, definition
from sandbox.devices.sriov import Sriov
from sandbox.devices.sriov_networks import play
from sandbox.kube import ApiError
from tests.sandbox.device_objects import Object
from tests.sandbox.test_devices_sriov import GOOD

IPAM = '{"type": "nv-ipam", "poolName": "rail-0"}'


def network(name: str = "rail-0", space: str = "net", **spec: Any) -> Object:
    good = {"networkNamespace": "train", "resourceName": "rail_0", "ipam": IPAM}
    return {"metadata": {"name": name, "namespace": space}, "spec": {**good, **spec}}


class Cluster:
    def __init__(self, *networks: Object, others: list[Object] | None = None) -> None:
        self.lists: dict[str, Any] = {"sriovibnetworks": list(networks)}
        self.lists["network-attachment-definitions"] = others or []
        self.code = 0

    def get(self, _api: str, plural: str, *_where: str | None) -> Object:
        if self.lists.get(plural) is None:
            raise ApiError(404, "not found")
        return {"items": self.lists[plural]}

    def apply(self, obj: Object, plural: str, **_manager: str) -> None:
        if self.code:
            raise ApiError(self.code, "no")
        self.delete("", plural, obj["metadata"]["namespace"], obj["metadata"]["name"])
        self.lists[plural].append(obj)

    def delete(self, _api: str, plural: str, space: str, name: str) -> None:
        kept = [one for one in self.there if (one["metadata"]["namespace"], one["metadata"]["name"]) != (space, name)]
        self.lists[plural] = kept

    @property
    def there(self) -> list[Object]:
        found: list[Object] = self.lists["network-attachment-definitions"]
        return found


def played(cluster: Any, sriov: Sriov = GOOD) -> bool:
    return play(cluster, sriov, "m")


def test_a_network_becomes_a_definition_and_goes_with_it() -> None:
    cluster = Cluster(network(linkState="enable"))
    assert played(cluster)
    (found,) = cluster.there
    assert (found["metadata"]["namespace"], found["metadata"]["name"]) == ("train", "rail-0")
    assert found["metadata"]["annotations"] == {RESOURCE: "nvidia.com/rail_0"}
    assert json.loads(found["spec"]["config"]) == {
        "cniVersion": "1.0.0",
        "name": "rail-0",
        "type": "ib-sriov",
        "link_state": "enable",
        "ipam": json.loads(IPAM),
    }
    assert not played(cluster)
    cluster.lists["sriovibnetworks"] = [network(resourceName="rail_1")]
    assert played(cluster)
    assert cluster.there[0]["metadata"]["annotations"] == {RESOURCE: "nvidia.com/rail_1"}
    cluster.lists["sriovibnetworks"] = []
    assert played(cluster)
    assert cluster.there == []


def test_meta_plugins_make_a_chain() -> None:
    cluster = Cluster(network(metaPlugins='{"type": "rdma"}'))
    played(cluster)
    assert [one["type"] for one in definition("a", cluster.there[0]).plugins] == ["ib-sriov", "rdma"]


def test_only_the_operators_own_namespace_speaks_for_others() -> None:
    cluster = Cluster(network(space="elsewhere"), network("b", space="elsewhere", networkNamespace=None, ipam=None))
    played(cluster)
    assert [one["metadata"]["namespace"] for one in cluster.there] == ["elsewhere"]


def test_what_somebody_else_made_stays_theirs() -> None:
    theirs = {"metadata": {"name": "rail-0", "namespace": "train"}, "spec": {"config": "{}"}}
    cluster = Cluster(network(), others=[theirs])
    assert not played(cluster)
    assert cluster.there == [theirs]


def test_it_waits_for_operator_kind_and_namespace() -> None:
    assert not played(Cluster(network()), Sriov())
    cluster = Cluster(network())
    cluster.code = 404
    assert not played(cluster)
    cluster.lists["network-attachment-definitions"] = None
    assert not played(cluster)
