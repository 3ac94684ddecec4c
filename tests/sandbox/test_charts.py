"""The fixture charts have the published names, value paths, defaults and custom resources, as far as they go."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox.charts import (
    CHARTS,
    SCHEMAS,
    Object,
    RenderError,
    defaults,
    load,
    needs_published,
    needs_renderer,
    one,
    render,
)
from tests.sandbox.closed_schema import troubles

OFF: Object = {"nfd": {"enabled": False}}
PUBLISHED = {
    "gpu-operator": "gpu-operator-v26.7.0.yaml",
    "dra-driver-nvidia-gpu": "dra-driver-nvidia-gpu-0.4.1.yaml",
    "network-operator": "network-operator-26.4.1.yaml",
    "node-feature-discovery": "node-feature-discovery-0.19.0.yaml",
    "gpu-operator-charts": "gpu-operator-charts-v1.5.1.yaml",
    "dranet": "dranet-v1.4.0.yaml",
    "whereabouts-chart": "whereabouts-chart-v0.9.4.yaml",
}
POLICY_DEFINITION = "nvidia-gpu-operator-v26.7.0/nvidia.com_clusterpolicies.yaml"
EVERYTHING: Object = {
    **OFF,
    "hostPaths": {"driverInstallDir": "/usr/local", "kubeletRootDir": "/var/lib/kubelet"},
    "validator": {stage: {"env": [{"name": "A", "value": "b"}]} for stage in ("driver", "toolkit", "cuda", "vfioPCI")},
    "operator": {"metrics": {"serviceMonitor": {"interval": "30s"}}, "imagePullSecrets": ["pull"]},
    "daemonsets": {"labels": {"a": "b"}, "annotations": {"a": "b"}},
    "devicePlugin": {
        "args": ["--x"],
        "config": {"create": True, "name": "p", "default": "d", "data": {"d": "version: v1"}},
    },
    "dcgmExporter": {
        "podLabelAllowlistRegex": ["^app$"],
        "hpcJobMapping": {"enabled": True, "directory": "/jobs"},
        "config": {"name": "csv", "create": True, "data": "# field, type, help\nDCGM_FI_DEV_GPU_TEMP, gauge, heat"},
        "serviceMonitor": {"additionalLabels": {"release": "x"}, "relabelings": [{"targetLabel": "node"}]},
    },
    "migManager": {"config": {"create": True, "name": "mig", "data": {"config.yaml": "version: v1"}}},
}


def leaves(values: Object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


@needs_published
@pytest.mark.parametrize("chart", PUBLISHED)
def test_every_value_is_a_published_one_with_its_default(chart: str) -> None:
    published = dict(leaves(load(SCHEMAS / "values" / PUBLISHED[chart])[0]))
    for path, value in leaves(defaults(chart)):
        assert path in published, ".".join(path)
        assert published[path] == value, ".".join(path)


@pytest.mark.parametrize("chart", PUBLISHED)
def test_the_chart_calls_itself_like_the_published_one(chart: str) -> None:
    found = load(CHARTS / chart / "Chart.yaml")[0]
    assert PUBLISHED[chart] == f"{found['name']}-{found['version']}.yaml"


def definitions(directory: Path) -> dict[str, Object]:
    return {each["spec"]["names"]["kind"]: each for file in sorted(directory.glob("*.yaml")) for each in load(file)}


@needs_published
@pytest.mark.parametrize(
    ("chart", "crds"),
    [
        ("gpu-operator", "nvidia-gpu-operator-v26.7.0"),
        ("node-feature-discovery", "node-feature-discovery-v0.19.0"),
        ("gpu-operator-charts", "rocm-gpu-operator-v1.5.1"),
        ("dra-driver-nvidia-gpu", "dra-driver-nvidia-gpu-v0.4.1"),
        ("whereabouts-chart", "whereabouts-v0.9.4"),
    ],
)
def test_definitions_have_the_published_identity_and_no_field_of_their_own(chart: str, crds: str) -> None:
    published = definitions(SCHEMAS / "crds" / crds)
    for kind, found in definitions(CHARTS / chart / "crds").items():
        theirs = published[kind]["spec"]
        assert found["metadata"]["name"] == published[kind]["metadata"]["name"]
        assert {**found["spec"], "versions": None} == {**theirs, "versions": None}
        for version in found["spec"]["versions"]:
            other = next(each for each in theirs["versions"] if each["name"] == version["name"])
            assert version.get("subresources") == other.get("subresources")
            mine = {path for path, _ in fields(version["schema"]["openAPIV3Schema"])}
            assert mine <= {path for path, _ in fields(other["schema"]["openAPIV3Schema"])}


@needs_published
def test_the_network_operators_definitions_are_the_published_ones() -> None:
    three = ("network-operator-v26.4.1", "nvidia-k8s-ipam-network-operator-v26.4.1", "network-operator-v26.4.1-sriov")
    published = {kind: one for each in three for kind, one in definitions(SCHEMAS / "crds" / each).items()}
    for kind, found in definitions(CHARTS / "network-operator" / "crds").items():
        theirs = published[kind]["spec"]
        assert {**found["spec"], "versions": None} == {key: theirs[key] for key in theirs if key in found["spec"]} | {
            "versions": None
        }
        mine = {path for path, _ in fields(found["spec"]["versions"][0]["schema"]["openAPIV3Schema"])}
        assert mine <= {path for path, _ in fields(theirs["versions"][0]["schema"]["openAPIV3Schema"])}


def fields(schema: Object, path: str = "") -> Iterator[tuple[str, Object]]:
    for key, value in (schema.get("properties") or {}).items():
        yield f"{path}.{key}", value
        yield from fields(value, f"{path}.{key}")
    if "items" in schema:
        yield from fields(schema["items"], f"{path}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from fields(schema["additionalProperties"], f"{path}{{}}")


@needs_published
@needs_renderer
@pytest.mark.parametrize("values", [OFF, EVERYTHING])
def test_the_policy_is_valid_under_the_published_definition(values: Object) -> None:
    policy = one(render("gpu-operator", values), "ClusterPolicy", "cluster-policy")
    assert troubles(load(SCHEMAS / "crds" / POLICY_DEFINITION)[0], policy) == []


@needs_renderer
@pytest.mark.parametrize("values", [OFF, EVERYTHING])
def test_the_policy_is_valid_under_the_charts_own_definition(values: Object) -> None:
    policy = one(render("gpu-operator", values), "ClusterPolicy", "cluster-policy")
    assert troubles(load(CHARTS / "gpu-operator" / "crds" / "clusterpolicies.yaml")[0], policy) == []


@needs_renderer
def test_what_is_set_arrives_in_the_policy() -> None:
    found = render("gpu-operator", EVERYTHING)
    spec = one(found, "ClusterPolicy", "cluster-policy")["spec"]
    assert spec["hostPaths"] == {"rootFS": "/", "driverInstallDir": "/usr/local", "kubeletRootDir": "/var/lib/kubelet"}
    assert spec["validator"]["driver"] == {"env": [{"name": "A", "value": "b"}]}
    assert spec["devicePlugin"]["config"] == {"name": "p", "default": "d"}
    assert spec["dcgmExporter"]["config"] == {"name": "csv"}
    assert spec["migManager"]["config"] == {"name": "mig", "default": "all-disabled"}
    assert one(found, "ConfigMap", "p")["data"] == {"d": "version: v1"}
    assert one(found, "ConfigMap", "csv")["data"]["dcgm-metrics.csv"].endswith("DCGM_FI_DEV_GPU_TEMP, gauge, heat")
    assert one(found, "ConfigMap", "mig")["data"] == {"config.yaml": "version: v1"}


@needs_renderer
def test_a_misspelt_value_vanishes() -> None:
    misspelt = {**OFF, "hostPath": {"driverInstallDir": "/x"}, "driver": {"enable": False}, "mig": {"stratgy": "x"}}
    assert render("gpu-operator", misspelt) == render("gpu-operator", OFF)


@needs_renderer
@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({}, "set nfd.enabled to false"),
        ({**OFF, "gpuCluster": {"deployCR": True}}, "cannot both be true"),
        ({**OFF, "gpuCluster": {"deployCR": True}, "clusterPolicy": {"deployCR": False}}, "no GPUCluster mode"),
        ({**OFF, "cdi": {"enabled": False, "nriPluginEnabled": True}}, "when CDI is disabled"),
        ({**OFF, "cdi": {"nriPluginEnabled": True}, "toolkit": {"enabled": False}}, "when the toolkit is disabled"),
        ({**OFF, "devicePlugin": {"config": {"create": True}}}, "needs devicePlugin.config.name"),
        ({**OFF, "devicePlugin": {"config": {"create": True, "name": "a"}}}, "needs devicePlugin.config.name"),
    ],
)
def test_a_template_refuses(values: Object, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        render("gpu-operator", values)


@needs_renderer
def test_hooks_have_their_gates() -> None:
    upgrade = one(render("gpu-operator", OFF), "Job", "gpu-operator-upgrade-crd")["metadata"]["annotations"]
    assert upgrade["helm.sh/hook"] == "pre-upgrade"
    assert upgrade["helm.sh/hook-delete-policy"] == "hook-succeeded,before-hook-creation"
    other = render("gpu-operator", {**OFF, "operator": {"upgradeCRD": False, "cleanupCRD": True}})
    jobs = {each["metadata"]["name"]: each["metadata"]["annotations"] for each in other if each["kind"] == "Job"}
    assert {name: notes["helm.sh/hook"] for name, notes in jobs.items()} == {"gpu-operator-cleanup-crd": "pre-delete"}
    policy = one(other, "ClusterPolicy", "cluster-policy")["metadata"]
    assert policy["annotations"] == {"helm.sh/resource-policy": "keep"}


@needs_renderer
def test_the_worker_reads_its_configuration_as_it_is_written() -> None:
    config = {"sources": {"pci": {"deviceClassWhitelist": ["0302"], "deviceLabelFields": ["vendor"]}}}
    found = render("node-feature-discovery", {"worker": {"config": config, "tolerations": [{"operator": "Exists"}]}})
    worker = one(found, "DaemonSet", "node-feature-discovery-worker")
    assert worker["spec"]["template"]["spec"]["tolerations"] == [{"operator": "Exists"}]
    text = one(found, "ConfigMap", "node-feature-discovery-worker-conf")["data"]["nfd-worker.conf"]
    assert text.splitlines()[0] == "sources:"
    names = {each["metadata"]["name"] for each in found if each["kind"] == "Deployment"}
    assert names == {"node-feature-discovery-master", "node-feature-discovery-gc"}
