"""What we emit is what vendors publish: Helm values that charts read, and objects that definitions allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from gpu_platform import facts
from gpu_platform.reports.render import parts
from gpu_platform.settings.document import load
from tests.sandbox.charts import SCHEMAS, needs_published
from tests.sandbox.closed_schema import troubles
from tests.stack_files import FIXTURES, PROJECT, good

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gpu_platform.planning.model import Plan

VALUES = {
    "gpu-operator": "gpu-operator-v26.7.0.yaml",
    "dra-driver": "dra-driver-nvidia-gpu-0.4.1.yaml",
    "rocm": "gpu-operator-charts-v1.5.1.yaml",
    "nfd": "node-feature-discovery-0.19.0.yaml",
    "network-operator": "network-operator-26.4.1.yaml",
    "whereabouts": "whereabouts-chart-v0.9.4.yaml",
    "dranet": "dranet-v1.4.0.yaml",
    "kueue": "kueue-0.18.6.yaml",
}
NETWORK, IPAM = "network-operator-v26.4.1", "nvidia-k8s-ipam-network-operator-v26.4.1"
DEFINITIONS = {
    "DeviceConfig": "rocm-gpu-operator-v1.5.1/amd.com_deviceconfigs.yaml",
    "NicClusterPolicy": f"{NETWORK}/mellanox.com_nicclusterpolicies.yaml",
    "NetworkAttachmentDefinition": f"{NETWORK}/k8s.cni.cncf.io_networkattachmentdefinitions_crd.yaml",
    "IPPool": f"{IPAM}/nv-ipam.nvidia.com_ippools.yaml",
    "SriovNetworkNodePolicy": f"{NETWORK}-sriov/sriovnetwork.openshift.io_sriovnetworknodepolicies.yaml",
    "CIDRPool": f"{IPAM}/nv-ipam.nvidia.com_cidrpools.yaml",
}
KUEUE = {
    "Topology": "kueue.x-k8s.io_topologies.yaml",
    "ResourceFlavor": "kueue.x-k8s.io_resourceflavors.yaml",
    "WorkloadPriorityClass": "kueue.x-k8s.io_workloadpriorityclasses.yaml",
    "Cohort": "kueue.x-k8s.io_cohorts.yaml",
    "ClusterQueue": "kueue.x-k8s.io_clusterqueues.yaml",
    "LocalQueue": "kueue.x-k8s.io_localqueues.yaml",
}
SUBCHARTS = {
    "network-operator": {"sriov-network-operator": "network-operator-26.4.1-sriov-network-operator-0.1.0.yaml"},
}
# Whose keys are anybody's: labels, and environment.
FREE = {"nodeSelector", "configDaemonNodeSelector", "configDaemonEnvVars"}
# Read by templates alone: NVIDIA/gpu-operator v26.7.0, templates/clusterpolicy.yaml.
TEMPLATES_ONLY = {
    "validator.driver.env",
    "dcgmExporter.config.name",
}
# What Kubernetes itself defines; the API server judges it in the engine tests.
BUILT_IN = {
    "Namespace",
    "ConfigMap",
    "Node",
    "DaemonSet",
    "DeviceClass",
    "ResourceClaimTemplate",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
}
EXPERIMENTS = FIXTURES / "warning" / "sriov-operator-on-talos.yaml"
FILES = sorted(
    [EXPERIMENTS, *FIXTURES.glob("valid/*.yaml"), *(PROJECT / f"Pulumi.{one}.yaml" for one in ("prod", "sandbox"))]
)


def plans(file: Path) -> Plan:
    return good(load(file).keys)


def published(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((SCHEMAS / "values" / VALUES[name]).read_text(encoding="utf-8"))
    for subchart, file in SUBCHARTS.get(name, {}).items():
        theirs = yaml.safe_load((SCHEMAS / "values" / file).read_text(encoding="utf-8"))
        found[subchart] = {**theirs, **{key: _both(theirs.get(key), value) for key, value in found[subchart].items()}}
    return found


def _both(theirs: Any, ours: Any) -> Any:
    return {**theirs, **ours} if isinstance(theirs, dict) and isinstance(ours, dict) else ours


def unknown(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield every path of ours that is not in theirs; what they leave empty, and lists, are free."""
    if not isinstance(ours, dict) or (isinstance(theirs, dict) and not theirs):
        return
    for key, value in ours.items():
        where = f"{path}.{key}" if path else key
        if key in FREE:
            continue
        if isinstance(theirs, dict) and key in theirs:
            yield from unknown(value, theirs[key] or {}, where)
        elif isinstance(value, dict) and value:
            yield from unknown(value, None, where)
        else:
            yield where


@needs_published
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_value_is_one_that_the_published_chart_reads(file: Path) -> None:
    for release in (one for part in parts(plans(file)).values() for one in part.releases):
        if release.key in VALUES:
            assert set(unknown(release.values, published(release.key))) <= TEMPLATES_ONLY, release.key


@needs_published
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_custom_resource_is_one_that_the_published_definition_allows(file: Path) -> None:
    for manifest in (one for part in parts(plans(file)).values() for one in part.manifests):
        if manifest.body["kind"] in DEFINITIONS:
            text = (SCHEMAS / "crds" / DEFINITIONS[manifest.body["kind"]]).read_text(encoding="utf-8")
            assert troubles(yaml.safe_load(text), manifest.body) == []


@needs_published
@pytest.mark.parametrize("release", ["kueue-v0.18.6", "kueue-v0.19.2"])
@pytest.mark.parametrize("file", [one for one in FILES if "queue" in one.stem], ids=lambda file: file.stem)
def test_queues_are_what_both_releases_of_kueue_allow(file: Path, release: str) -> None:
    manifests = [one for one in plans(file).training_queue.manifests if one.body["kind"] in KUEUE]
    assert {"ResourceFlavor", "ClusterQueue", "LocalQueue"} <= {one.body["kind"] for one in manifests}
    for manifest in manifests:
        text = (SCHEMAS / "crds" / release / KUEUE[manifest.body["kind"]]).read_text(encoding="utf-8")
        assert troubles(yaml.safe_load(text), manifest.body) == [], manifest.key


@needs_published
@pytest.mark.parametrize("name", sorted(VALUES))
def test_the_values_that_a_person_may_add_are_those_of_the_chart(name: str) -> None:
    known, theirs = facts.table("chart_values")["known"][name], published(name)
    assert set(known) == set(theirs)
    for key, inner in known.items():
        there = set(theirs[key]) if isinstance(theirs[key], dict) else set()
        assert not inner or set(inner) >= there, key


def test_every_custom_kind_is_checked() -> None:
    found = (part for file in FILES for part in parts(plans(file)).values())
    kinds = {one.body["kind"] for part in found for one in part.manifests}
    assert kinds - BUILT_IN == {*DEFINITIONS, *KUEUE}
