"""The charts that stand for AMD's and Intel's: their gates, and objects that the published definitions take."""

import pytest

from sandbox.devices.decide import decide
from sandbox.devices.hardware import DEVICES
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
from tests.sandbox.device_objects import TOLERATION, changed
from tests.sandbox.other_objects import amd_node, amd_view

AMD, GAUDI, DRA = "gpu-operator-charts", "habana-ai-operator", "intel-gaudi-resource-driver-chart"
OFF: Object = {
    "node-feature-discovery": {"enabled": False},
    "kmm": {"enabled": False, "watch": False},
    "remediation": {"enabled": False, "installCRDs": False},
}
EVERYTHING: Object = {
    **OFF,
    "deviceConfig": {
        "spec": {
            "selector": {"a": "b"},
            "driver": {"enable": True, "driverType": "container", "tolerations": [TOLERATION]},
            "devicePlugin": {
                "devicePluginTolerations": [TOLERATION],
                "devicePluginArguments": {"resource_naming_strategy": "mixed"},
                "nodeLabellerArguments": ["compute-memory-partition"],
            },
            "metricsExporter": {
                "config": {"name": "csv"},
                "prometheus": {"serviceMonitor": {"enable": True, "labels": {"release": "x"}}},
            },
            "configManager": {"enable": True, "config": {"name": "p"}, "configManagerTolerations": [TOLERATION]},
            "draDriver": {"enable": False, "cmdLineArguments": {"v": "4"}, "tolerations": [TOLERATION]},
        }
    },
}


@needs_renderer
@pytest.mark.parametrize("values", [OFF, EVERYTHING])
def test_the_device_config_is_valid_under_the_charts_own_definition(values: Object) -> None:
    found = one(render(AMD, values), "DeviceConfig", "default")
    assert troubles(load(CHARTS / AMD / "crds" / "deviceconfigs.yaml")[0], found) == []


@needs_published
@needs_renderer
@pytest.mark.parametrize("values", [OFF, EVERYTHING])
def test_the_device_config_is_valid_under_the_published_definition(values: Object) -> None:
    found = one(render(AMD, values), "DeviceConfig", "default")
    assert troubles(load(SCHEMAS / "crds" / "rocm-gpu-operator-v1.5.1" / "amd.com_deviceconfigs.yaml")[0], found) == []


@needs_renderer
def test_amds_gates() -> None:
    bare = {
        **OFF,
        "installdefaultNFDRule": False,
        "upgradeCRD": False,
        "crds": {"defaultCR": {"install": False}},
        "draDriver": {"deviceClass": {"create": False}},
        "defaultDCMConfigMap": {"install": False},
    }
    kinds = {each["kind"] for each in render(AMD, bare)}
    assert not kinds & {"NodeFeatureRule", "DeviceConfig", "DeviceClass", "ConfigMap"}
    named = {each["metadata"]["name"] for each in render(AMD, OFF) if each["kind"] == "Job"}
    assert named == {"delete-leftover-deviceconfigs", "upgrade-crd"}
    assert one(render(AMD, OFF), "DeviceConfig", "default")["metadata"]["annotations"] == {
        "helm.sh/resource-policy": "keep"
    }


@needs_renderer
@pytest.mark.parametrize(
    ("chart", "values", "reason"),
    [
        (AMD, {}, "set node-feature-discovery.enabled to false"),
        (AMD, {**OFF, "kmm": {"enabled": True}}, "kmm.enabled"),
        (AMD, {**OFF, "remediation": {}}, "no Argo definitions"),
        (DRA, {"nfd": {"enabled": True}}, "set nfd.enabled to false"),
    ],
)
def test_a_template_refuses(chart: str, values: Object, reason: str) -> None:
    with pytest.raises(RenderError, match=reason):
        render(chart, values)


@needs_renderer
def test_what_amds_chart_installs_publishes_the_gpus() -> None:
    plugin = {"devicePluginTolerations": [TOLERATION], "nodeLabellerTolerations": [TOLERATION]}
    found = render(AMD, {**OFF, "deviceConfig": {"spec": {"devicePlugin": plugin}}}, "kube-amd-gpu")
    manager = one(found, "Deployment", "gpu-operator-charts-controller-manager")
    config = changed(one(found, "DeviceConfig", "default"), "metadata.namespace", "kube-amd-gpu")
    # A default that the exporter does not need here: its ServiceMonitor stays off.
    seen = amd_view(
        amd_operator={**changed(manager, "metadata.namespace", "kube-amd-gpu"), "status": {"availableReplicas": 1}},
        device_configs=(config,),
        rules=(one(found, "NodeFeatureRule", "amd-gpu-label-nfd-rule"),),
    )
    decided = decide(seen, amd_node())
    assert (decided.annotations[DEVICES], decided.resources) == ("8 GPUs published", {"amd.com/gpu": "8"})
    assert decided.labels["feature.node.kubernetes.io/amd-gpu-mi300x"] == "true"


@needs_renderer
def test_gaudis_policy_keeps_to_the_documented_fields() -> None:
    found = render(GAUDI, {})
    policy = one(found, "ClusterPolicy", "habana-ai")
    assert troubles(load(CHARTS / GAUDI / "crds" / "clusterpolicies.yaml")[0], policy) == []
    labels = one(found, "Deployment", "controller-manager")["metadata"]["labels"]
    assert labels["app.kubernetes.io/name"] == "habana-ai-operator"


@needs_renderer
def test_gaudis_dra_driver_follows_its_rule() -> None:
    assert defaults(DRA)["nodeFeatureRules"] == {"enabled": False}
    placed = {"kubeletPlugin": {"nodeSelector": {"a": "b"}}}
    plain = one(render(DRA, placed), "DaemonSet", "intel-gaudi-resource-driver-kubelet-plugin")
    assert plain["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}
    found = render(DRA, {**placed, "nodeFeatureRules": {"enabled": True}, "enableDRAExtendedResources": True})
    ruled = one(found, "DaemonSet", "intel-gaudi-resource-driver-kubelet-plugin")
    assert ruled["spec"]["template"]["spec"]["nodeSelector"] == {"intel.feature.node.kubernetes.io/gaudi": "true"}
    assert one(found, "DeviceClass", "gaudi.intel.com")["spec"]["extendedResourceName"] == "intel.com/gaudi"
