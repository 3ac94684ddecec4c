"""The chart of the DRA driver refuses what the published one refuses, and makes the driver's classes."""

import pytest

from tests.sandbox.charts import Object, RenderError, needs_renderer, one, render

CHART = "dra-driver-nvidia-gpu"
GOOD: Object = {"gpuResourcesEnabledOverride": True, "resources": {"computeDomains": {"enabled": False}}}


@needs_renderer
def test_classes_are_those_of_what_is_handed_out() -> None:
    classes = {each["metadata"]["name"] for each in render(CHART, GOOD) if each["kind"] == "DeviceClass"}
    assert classes == {"gpu.nvidia.com", "mig.nvidia.com"}
    more = {"gpuResourcesEnabledOverride": True, "featureGates": {"PassthroughSupport": True}}
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
