"""The loop: look at the cluster, decide, write what differs. Server-side apply withdraws what is no longer said."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from sandbox.devices import attaching, fabric_view, operator, others, slices, sriov_networks
from sandbox.devices.decide import Published, decide
from sandbox.devices.view import View, worker_config_name
from sandbox.kube import ApiError

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object
    from sandbox.kube import Kube

MANAGER = "device-simulator"
PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 5.0
# The share of a core that looking may take where nothing changes, however many nodes there are.
SHARE = 0.03
_DRA = "app.kubernetes.io/name=dra-driver-nvidia-gpu"
_DRANET = "app.kubernetes.io/name=dranet"
_NVIDIA, _NODE_API, _CRD_API = "nvidia.com/v1", "node.k8s.io/v1", "apiextensions.k8s.io/v1"


class Simulator:
    """Plays the workers and operators of one cluster, one round after the other."""

    def __init__(self, kube: Kube) -> None:
        self._kube = kube
        # By node uid: the resource version last decided on and what was applied, so that no news costs nothing.
        self._applied: dict[str, tuple[str, Published]] = {}
        self._view = View()

    def run(self) -> None:
        """Play rounds until the process is ended; an API server that is away is waited for."""
        while True:
            began = time.process_time()
            try:
                wrote = self.round()
            except (ApiError, OSError, HTTPException):
                wrote = False
            spent = time.process_time() - began
            time.sleep(PAUSE_SECONDS if wrote else min(max(PAUSE_SECONDS, spent / SHARE), LONGEST_PAUSE_SECONDS))

    def round(self) -> bool:
        """Look once at everything and write what differs; tell whether there was anything."""
        view = self._look()
        nodes = self._kube.items("v1", "nodes", resourceVersion="0")
        wrote = [self._visit(node, view) for node in nodes]
        self._view = view
        present = {node["metadata"]["uid"]: node["metadata"]["name"] for node in nodes}
        self._applied = {uid: kept for uid, kept in self._applied.items() if uid in present}
        failing = [present[uid] for uid, (_, said) in self._applied.items() if said.ready is False]
        told = [one for _, said in self._applied.values() for one in said.slices]
        by_name = {present[uid]: said for uid, (_, said) in self._applied.items()}
        wrote.append(sriov_networks.play(self._kube, view.fabric.sriov, MANAGER))
        wrote.append(attaching.play(self._kube, view, nodes, by_name))
        wrote += [slices.publish(self._kube, told, MANAGER), others.clean_up(self._kube, view.others)]
        return any([*wrote, self._runtime_classes(view), self._report(view, failing), self._clean_up(view)])

    def _visit(self, node: Object, view: View) -> bool:
        uid, version = node["metadata"]["uid"], node["metadata"].get("resourceVersion", "")
        before = self._applied.get(uid)
        if before and before[0] == version and view == self._view:
            return False
        wanted = decide(view, node)
        try:
            wrote = self._publish(node, before[1] if before else None, wanted)
        except ApiError as error:
            if error.code == 409:  # the node went in the meantime: to apply to its name alone would make a new one
                return True
            raise
        self._applied[uid] = (version, wanted)
        return wrote

    def _look(self) -> View:
        selector = "app.kubernetes.io/name=node-feature-discovery,role=worker"
        worker = _first(self._kube.items("apps/v1", "daemonsets", labelSelector=selector))
        deployment = _first(self._kube.items("apps/v1", "deployments", fieldSelector="metadata.name=gpu-operator"))
        spaces = self._kube.items("v1", "namespaces", resourceVersion="0")
        view = View(
            namespaces={one["metadata"]["name"]: one["metadata"].get("labels") or {} for one in spaces},
            worker=worker,
            worker_config=self._worker_config(worker) if worker else None,
            operator=deployment,
            policies=tuple(self._policies()),
            dra_plugin=_first(self._kube.items("apps/v1", "daemonsets", labelSelector=_DRA)),
            dranet=_first(self._kube.items("apps/v1", "daemonsets", labelSelector=_DRANET)),
            others=others.look(self._kube),
            fabric=fabric_view.look(self._kube),
        )
        layouts, plugin = (self._config_of(view, section) for section in ("migManager", "devicePlugin"))
        return replace(view, mig_library=(layouts or {}).get("config.yaml"), plugin_configs=plugin)

    def _config_of(self, view: View, section: str) -> dict[str, str] | None:
        """Return the data of the ConfigMap that a section of the policy names; None where it is not there."""
        spec = ((view.policy or {}).get("spec") or {}).get(section) or {}
        name = (spec.get("config") or {}).get("name")
        if not name or view.operator is None:
            return None
        found = self._absent_is_none("v1", "configmaps", view.operator["metadata"]["namespace"], name)
        return (found.get("data") or {}) if found else None

    def _worker_config(self, worker: Object) -> str | None:
        source = worker_config_name(worker)
        if source is None:
            return None
        name, key = source
        found = self._absent_is_none("v1", "configmaps", worker["metadata"]["namespace"], name)
        return (found.get("data") or {}).get(key) if found else None

    def _policies(self) -> list[Object]:
        found = self._absent_is_none(_NVIDIA, "clusterpolicies")
        # A list leaves the kind of its items out.
        return [{**one, "kind": "ClusterPolicy"} for one in found["items"]] if found else []

    def _absent_is_none(self, api: str, plural: str, space: str | None = None, name: str | None = None) -> Any:
        try:
            return self._kube.get(api, plural, space, name)
        except ApiError as error:
            if error.code == 404:
                return None
            raise

    def _publish(self, node: Object, before: Published | None, wanted: Published) -> bool:
        head = {"apiVersion": "v1", "kind": "Node"}
        here = {key: node["metadata"][key] for key in ("name", "uid")}
        resources = before is None or before.resources != wanted.resources or not _holds(node, wanted)
        texts = before is None or _texts(before) != _texts(wanted) or not _has(node, wanted)
        # Resources first: whoever waits for the sentence finds them as it says.
        if resources:
            status = {"capacity": wanted.resources, "allocatable": wanted.resources}
            self._kube.apply({**head, "metadata": here, "status": status}, "nodes", "status", manager=MANAGER)
        if texts:
            metadata = {**here, "labels": wanted.labels, "annotations": wanted.annotations}
            self._kube.apply({**head, "metadata": metadata}, "nodes", manager=MANAGER)
        return resources or texts

    def _runtime_classes(self, view: View) -> bool:
        listed = self._kube.items(_NODE_API, "runtimeclasses", resourceVersion="0")
        gone, wanted = operator.runtime_classes(view, listed)
        for name in gone:
            self._kube.delete(_NODE_API, "runtimeclasses", None, name)
        for one in wanted:
            self._kube.apply(one, "runtimeclasses", manager=MANAGER)
        return bool(gone or wanted)

    def _report(self, view: View, failing: list[str]) -> bool:
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found = operator.statuses(view, failing, now)
        for name, status in found.items():
            self._kube.merge(_NVIDIA, "clusterpolicies", None, name, {"status": status}, sub="status")
        return bool(found)

    def _clean_up(self, view: View) -> bool:
        """Play the chart's pre-delete hook: its pod would remove the definition, and with it every ClusterPolicy."""
        if not view.kept or view.operator is None:
            return False
        space = view.operator["metadata"]["namespace"]
        if not self._absent_is_none("batch/v1", "jobs", space, "gpu-operator-cleanup-crd"):
            return False
        self._kube.delete(_CRD_API, "customresourcedefinitions", None, "clusterpolicies.nvidia.com")
        return True


def _first(found: list[Object]) -> Object | None:
    return found[0] if found else None


def _texts(one: Published) -> tuple[dict[str, str], dict[str, str]]:
    return one.labels, one.annotations


def _has(node: Object, wanted: Published) -> bool:
    labels, notes = node["metadata"].get("labels") or {}, node["metadata"].get("annotations") or {}
    return wanted.labels.items() <= labels.items() and wanted.annotations.items() <= notes.items()


def _holds(node: Object, wanted: Published) -> bool:
    return wanted.resources.items() <= ((node.get("status") or {}).get("allocatable") or {}).items()
