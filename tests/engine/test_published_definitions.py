"""Under the vendors' own definitions, judged strictly by the real API server, the stack is the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gpu_platform.settings.document import load
from sandbox import overlay
from sandbox.kube import ApiError, until
from tests.engine.vendor_stack import FILE, as_planned, vendor_stack
from tests.sandbox.charts import SCHEMAS, needs_published, needs_renderer, one, render
from tests.stack_files import FIXTURES, good

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gpu_platform.planning.model import Manifest, Plan
    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = [pytest.mark.engine, needs_published]

PUBLISHED = (
    "nvidia-gpu-operator-v26.7.0",
    "dra-driver-nvidia-gpu-v0.4.1",
    "rocm-gpu-operator-v1.5.1",
    "node-feature-discovery-v0.19.0",
    "network-operator-v26.4.1",
    "network-operator-v26.4.1-sriov",
    "nvidia-k8s-ipam-network-operator-v26.4.1",
    "whereabouts-v0.9.4",
)
API, PLURAL = "apiextensions.k8s.io/v1", "customresourcedefinitions"
PLURALS = {
    "CIDRPool": "cidrpools",
    "ConfigMap": "configmaps",
    "DaemonSet": "daemonsets",
    "DeviceClass": "deviceclasses",
    "DeviceConfig": "deviceconfigs",
    "IPPool": "ippools",
    "Namespace": "namespaces",
    "NetworkAttachmentDefinition": "network-attachment-definitions",
    "NicClusterPolicy": "nicclusterpolicies",
    "Node": "nodes",
    "ResourceClaimTemplate": "resourceclaimtemplates",
    "SriovNetworkNodePolicy": "sriovnetworknodepolicies",
}
# Every mode of the fabric, and both ways of addresses.
FABRICS = sorted([FIXTURES / "warning" / "sriov-operator-on-talos.yaml", *FIXTURES.glob("valid/fabric-*.yaml")])


def definitions() -> dict[str, Any]:
    """Return the published definitions by name."""
    files = [file for each in PUBLISHED for file in sorted((SCHEMAS / "crds" / each).glob("*.yaml"))]
    found = [body for file in files for body in yaml.safe_load_all(file.read_text(encoding="utf-8")) if body]
    return {body["metadata"]["name"]: body for body in found}


def clear(kube: Kube) -> None:
    """Remove the definitions, whoever made them, so that those that come first win."""
    names = set(definitions())
    for name in names:
        kube.delete(API, PLURAL, None, name)
    until("definitions to go", lambda: not names & {one["metadata"]["name"] for one in kube.items(API, PLURAL)})


@pytest.fixture(scope="module")
def strict(make_stack: Callable[[str], Stack], kube: Kube, sandbox: State) -> Iterator[Stack]:
    """The stack of three vendors, installed where the published definitions were first."""
    clear(kube)
    for body in definitions().values():
        kube.create(body, PLURAL)
    until("definitions", lambda: all(established(kube, name) for name in definitions()))
    with vendor_stack(make_stack("published"), kube, sandbox) as stack:
        yield stack
    clear(kube)


def established(kube: Kube, name: str) -> bool:
    conditions = kube.get(API, PLURAL, None, name)["status"].get("conditions") or ()
    return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)


def judge(kube: Kube, body: dict[str, Any], plural: str) -> None:
    """Let the API server take a copy of an object under another name, without keeping it; unknown fields are errors."""
    copy = {**body, "metadata": {**body["metadata"], "name": f"{body['metadata']['name']}-judged"}}
    path = kube.path(body["apiVersion"], plural, body["metadata"].get("namespace"))
    kube.request("POST", path, copy, dryRun="All", fieldValidation="Strict")


def planned(sandbox: State) -> Plan:
    config = overlay.config(sandbox, FILE)
    return good({key.removeprefix("gpu-platform:"): value for key, value in config.items()})


def manifests(sandbox: State) -> tuple[Manifest, ...]:
    return planned(sandbox).gpu_operator.manifests


def test_nodes_hand_out_what_the_plan_says_under_the_vendors_definitions(strict: Stack, kube: Kube) -> None:
    as_planned(kube, strict)
    assert set(strict.up().ok().changes) == {"unchanged"}


def test_every_object_passes(strict: Stack, kube: Kube, sandbox: State) -> None:
    assert strict
    for manifest in manifests(sandbox):
        judge(kube, manifest.body, PLURALS[manifest.body["kind"]])


@pytest.mark.parametrize("file", FABRICS, ids=lambda file: file.stem)
def test_every_object_of_the_fabric_passes(file: Path, strict: Stack, kube: Kube) -> None:
    assert strict
    manifests = good(load(file).keys).rdma_fabric.manifests
    spaces = {one.body["metadata"].get("namespace", "default") for one in manifests} - {"default"}
    try:
        for space in spaces:
            kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}, "namespaces")
        for manifest in manifests:
            judge(kube, manifest.body, PLURALS[manifest.body["kind"]])
    finally:
        for space in spaces:
            kube.delete("v1", "namespaces", None, space)
        until(
            "namespaces to go", lambda: not spaces & {one["metadata"]["name"] for one in kube.items("v1", "namespaces")}
        )


def test_a_field_that_the_vendor_does_not_know_is_refused(strict: Stack, kube: Kube, sandbox: State) -> None:
    """What makes the test above worth something."""
    assert strict
    config = next(one for one in manifests(sandbox) if one.body["kind"] == "DeviceConfig").body
    with pytest.raises(ApiError, match="unknown field"):
        judge(kube, {**config, "spec": {**config["spec"], "devicePlugn": {}}}, "deviceconfigs")


@needs_renderer
def test_the_policy_that_the_chart_makes_of_our_values_passes(strict: Stack, kube: Kube, sandbox: State) -> None:
    assert strict
    values = next(one for one in planned(sandbox).gpu_operator.releases if one.key == "gpu-operator").values
    judge(kube, one(render("gpu-operator", values), "ClusterPolicy", "cluster-policy"), "clusterpolicies")
