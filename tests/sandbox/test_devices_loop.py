"""The loop writes what differs and nothing else; server-side apply is what takes back."""

from typing import Any

import pytest

from sandbox.devices.hardware import DEVICES
from sandbox.devices.loop import Simulator
from sandbox.devices.nvidia import RESOURCE
from sandbox.kube import ApiError
from tests.sandbox.device_objects import WORKER_CONFIG, Object, changed, dra_plugin, node, operator, policy, worker


class Cluster:
    """As much of the API server as the loop uses: lists, and one field manager's applies."""

    def __init__(self) -> None:
        enforce = {"pod-security.kubernetes.io/enforce": "privileged"}
        spaces = [{"metadata": {"name": name, "labels": enforce}} for name in ("nfd", "gpu-operator", "dra")]
        self.node = node()
        self.lists: dict[str, list[Object]] = {
            "namespaces": spaces,
            "daemonsets": [worker()],
            "deployments": [operator()],
            "clusterpolicies": [policy()],
            "runtimeclasses": [],
            "resourceslices": [],
            "dra": [],
            "jobs": [],
        }
        self.writes: list[str] = []
        self._owned: set[str] = set()

    def items(self, _api: str, plural: str, **query: str) -> list[Object]:
        if "dra-driver" in query.get("labelSelector", ""):
            return self.lists["dra"]
        if "dranet" in query.get("labelSelector", ""):
            return []
        return [self.node] if plural == "nodes" else self.lists.get(plural, [])

    def get(self, _api: str, plural: str, *_where: str | None) -> Object:
        if plural == "configmaps":
            return {"data": {"nfd-worker.conf": WORKER_CONFIG}}
        if not self.lists.get(plural):
            raise ApiError(404, "not found")
        return {"items": self.lists[plural]}

    def apply(self, obj: Object, plural: str, sub: str = "", **_manager: str) -> None:
        self.writes.append(f"apply {plural}/{obj['metadata']['name']}/{sub}".rstrip("/"))
        if plural in {"runtimeclasses", "resourceslices"}:
            self.lists[plural].append(obj)
        elif sub:
            kept = {key: value for key, value in self.node["status"]["allocatable"].items() if key != RESOURCE}
            self.node["status"]["allocatable"] = kept | obj["status"]["allocatable"]
        else:
            labels = self.node["metadata"]["labels"]
            kept = {key: value for key, value in labels.items() if key not in self._owned}
            self._owned = set(obj["metadata"]["labels"])
            self.node["metadata"]["labels"] = kept | obj["metadata"]["labels"]
            self.node["metadata"]["annotations"] |= obj["metadata"]["annotations"]

    def delete(self, _api: str, plural: str, _space: str | None, name: str) -> None:
        self.writes.append(f"delete {plural}/{name}")
        kept = [one for one in self.lists.get(plural, []) if one["metadata"]["name"] != name]
        self.lists[plural] = kept

    def merge(self, _api: str, plural: str, _space: str | None, name: str, patch: Object, sub: str = "") -> None:
        self.writes.append(f"merge {plural}/{name}/{sub}")
        self.lists[plural] = [{**one, **patch} for one in self.lists[plural]]


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def simulator(cluster: Cluster) -> Simulator:
    kube: Any = cluster
    return Simulator(kube)


def test_a_round_writes_once(cluster: Cluster, simulator: Simulator) -> None:
    simulator.round()
    assert cluster.node["metadata"]["annotations"][DEVICES] == "8 GPUs published"
    assert cluster.node["status"]["allocatable"][RESOURCE] == "8"
    assert cluster.writes == [
        "apply nodes/gpu-01/status",
        "apply nodes/gpu-01",
        "apply runtimeclasses/nvidia",
        "apply runtimeclasses/nvidia-cdi",
        "apply runtimeclasses/nvidia-legacy",
        "merge clusterpolicies/cluster-policy/status",
    ]
    cluster.writes.clear()
    simulator.round()
    assert cluster.writes == []


def test_everything_goes_with_the_objects(cluster: Cluster, simulator: Simulator) -> None:
    simulator.round()
    for plural in ("daemonsets", "deployments", "clusterpolicies"):
        cluster.lists[plural] = []
    simulator.round()
    assert cluster.node["metadata"]["labels"] == {}
    assert RESOURCE not in cluster.node["status"]["allocatable"]
    assert cluster.lists["runtimeclasses"] == []
    assert "no NFD worker" in cluster.node["metadata"]["annotations"][DEVICES]


def test_slices_come_and_go_with_the_plugin(cluster: Cluster, simulator: Simulator) -> None:
    cluster.lists["dra"] = [dra_plugin(selector={})]
    simulator.round()
    assert [one["metadata"]["name"] for one in cluster.lists["resourceslices"]] == ["gpu-01-gpu.nvidia.com"]
    assert cluster.node["metadata"]["annotations"][DEVICES].startswith("handed out twice")
    cluster.lists["dra"] = []
    simulator.round()
    assert cluster.lists["resourceslices"] == []
    assert cluster.node["metadata"]["annotations"][DEVICES] == "8 GPUs published"


def test_what_somebody_takes_away_comes_back(cluster: Cluster, simulator: Simulator) -> None:
    simulator.round()
    del cluster.node["metadata"]["labels"]["nvidia.com/gpu.present"]
    cluster.node["metadata"]["resourceVersion"] = "2"
    simulator.round()
    assert cluster.node["metadata"]["labels"]["nvidia.com/gpu.present"] == "true"


def test_a_node_made_anew_is_written_anew(cluster: Cluster, simulator: Simulator) -> None:
    simulator.round()
    cluster.node = changed(node(), "metadata.uid", "u2")
    simulator.round()
    assert cluster.node["status"]["allocatable"][RESOURCE] == "8"


def test_the_clean_up_hook_removes_the_definition(cluster: Cluster, simulator: Simulator) -> None:
    kept = changed(policy(), "metadata.annotations", {"helm.sh/resource-policy": "keep"})
    cluster.lists["clusterpolicies"] = [kept]
    simulator.round()
    assert not any("customresourcedefinitions" in write for write in cluster.writes)
    cluster.lists["jobs"] = [{"metadata": {"name": "gpu-operator-cleanup-crd"}}]
    simulator.round()
    assert "delete customresourcedefinitions/clusterpolicies.nvidia.com" in cluster.writes
