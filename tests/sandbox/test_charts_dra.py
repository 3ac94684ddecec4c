"""The chart of the DRA driver refuses what the published one refuses, and makes the driver's classes."""

import pytest

from tests.sandbox.charts import Object, RenderError, needs_renderer, one, render

CHART = "dra-driver-nvidia-gpu"
GOOD: Object = {"gpuResourcesEnabledOverride": True, "resources": {"computeDomains": {"enabled": False}}}


@needs_renderer
def test_classes_are_those_of_what_is_handed_out() -> None:
    classes = {each["metadata"]["name"] for each in render(CHART, GOOD) if each["kind"] == "DeviceClass"}
    assert classes == {"gpu.nvidia.com", "mig.nvidia.com", "vfio.gpu.nvidia.com"}
    more = {"gpuResourcesEnabledOverride": True}
    classes = {each["metadata"]["name"] for each in render(CHART, more) if each["kind"] == "DeviceClass"}
    assert {"vfio.gpu.nvidia.com", "compute-domain-daemon.nvidia.com"} <= classes


@needs_renderer
def test_placement_arrives_in_the_plugin() -> None:
    values = {**GOOD, "nvidiaDriverRoot": "/usr/local", "kubeletPlugin": {"nodeSelector": {"a": "b"}}}
    found = render(CHART, values)
    pod = one(found, "DaemonSet", f"{CHART}-kubelet-plugin")["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"a": "b"}
    assert pod["volumes"][0]["hostPath"] == {"path": "/usr/local"}
    assert pod["tolerations"] == [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}]
    assert not [each for each in found if each["kind"] == "Deployment"]


@needs_renderer
def test_what_is_off_is_not_in_the_pod() -> None:
    neither = {"resources": {"gpus": {"enabled": False}, "computeDomains": {"enabled": False}}}
    assert not [each for each in render(CHART, neither) if each["kind"] in {"DaemonSet", "Deployment", "DeviceClass"}]
    domains = render(CHART, {"resources": {"gpus": {"enabled": False}}})
    pod = one(domains, "DaemonSet", f"{CHART}-kubelet-plugin")["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["containers"]] == ["compute-domains"]
    assert one(domains, "Deployment", f"{CHART}-controller")
    pod = one(render(CHART, GOOD), "DaemonSet", f"{CHART}-kubelet-plugin")["spec"]["template"]["spec"]
    assert [each["name"] for each in pod["containers"]] == ["gpus"]


@needs_renderer
def test_root_gates_and_environment_are_seen_in_the_plugin() -> None:
    more = {"gpus": {"env": [{"name": "A", "value": "b"}]}}
    values = {**GOOD, "nvidiaDriverRoot": "/usr/local", "featureGates": {"MPSSupport": True}}
    plugin = one(
        render(CHART, {**values, "kubeletPlugin": {"containers": more}}), "DaemonSet", f"{CHART}-kubelet-plugin"
    )
    template = plugin["spec"]["template"]
    env = {each["name"]: each["value"] for each in template["spec"]["containers"][0]["env"]}
    assert (env["NVIDIA_DRIVER_ROOT"], env["FEATURE_GATES"], env["A"]) == ("/usr/local", "MPSSupport=true,", "b")
    assert template["metadata"]["labels"]["dra-driver-nvidia-gpu-component"] == "kubelet-plugin"


@needs_renderer
@pytest.mark.parametrize(("api", "named"), [("", True), ("resource.k8s.io/v1beta1", False)])
def test_only_the_final_api_knows_an_extended_resource(api: str, named: bool) -> None:
    found = one(render(CHART, {**GOOD, "resourceApiVersion": api}), "DeviceClass", "gpu.nvidia.com")
    assert found["apiVersion"] == (api or "resource.k8s.io/v1")
    assert (found["spec"].get("extendedResourceName") == "nvidia.com/gpu") == named


@needs_renderer
@pytest.mark.parametrize(
    ("values", "namespace", "reason"),
    [
        ({}, "there", "set gpuResourcesEnabledOverride"),
        (GOOD, "default", "does not go into namespace default"),
        ({**GOOD, "nvidiaCtkPath": "/x"}, "there", "nvidiaCtkPath is no value any more"),
    ],
)
def test_a_template_refuses(values: Object, namespace: str, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        render(CHART, values, namespace)
