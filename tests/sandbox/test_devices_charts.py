"""Charts and simulator together, without a cluster: good values publish GPUs, and one misspelt path publishes none."""

from typing import Any

import pytest

from sandbox.devices.decide import Published, decide
from sandbox.devices.hardware import DEVICES
from sandbox.devices.nvidia import RESOURCE
from sandbox.devices.placement import ENFORCE
from sandbox.devices.view import View, worker_config_name
from tests.sandbox.charts import Object, needs_renderer, one, render
from tests.sandbox.device_objects import TOLERATION, changed, node, without

pytestmark = needs_renderer

DISCOVERY: Object = {
    "worker": {
        "config": {"sources": {"pci": {"deviceClassWhitelist": ["02", "0302"], "deviceLabelFields": ["vendor"]}}},
        "tolerations": [TOLERATION],
    }
}
OPERATOR: Object = {
    "nfd": {"enabled": False},
    "driver": {"enabled": False},
    "toolkit": {"enabled": False},
    "hostPaths": {"driverInstallDir": "/usr/local"},
    "validator": {"driver": {"env": [{"name": "DISABLE_DEV_CHAR_SYMLINK_CREATION", "value": "true"}]}},
    "daemonsets": {"tolerations": [TOLERATION]},
}


def installed(discovery: Object, operator: Object) -> Published:
    """Return the decision about a good machine in a cluster where both charts are installed with these values."""
    workers = render("node-feature-discovery", discovery, "nfd")
    objects = render("gpu-operator", operator, "gpu-operator")
    worker = one(workers, "DaemonSet", "node-feature-discovery-worker")
    name, key = worker_config_name(worker) or ("", "")
    deployment = one(objects, "Deployment", "gpu-operator")
    view = View(
        namespaces={space: {ENFORCE: "privileged"} for space in ("nfd", "gpu-operator")},
        worker=worker,
        worker_config=one(workers, "ConfigMap", name)["data"][key],
        operator={**changed(deployment, "metadata.namespace", "gpu-operator"), "status": {"availableReplicas": 1}},
        policies=tuple(each for each in objects if each["kind"] == "ClusterPolicy"),
    )
    return decide(view, node())


def test_values_for_talos_publish_the_gpus() -> None:
    found = installed(DISCOVERY, OPERATOR)
    assert (found.annotations[DEVICES], found.resources) == ("8 GPUs published", {RESOURCE: "8"})


def misspelt(values: Object, path: str) -> Object:
    """Return the values with the last letter of the last key dropped."""
    *parents, last = path.split(".")
    place: Any = values
    for key in parents:
        place = place[key]
    return changed(without(values, path), path[:-1], place[last])


@pytest.mark.parametrize(
    "path",
    [
        "driver.enabled",
        "toolkit.enabled",
        "hostPaths",
        "hostPaths.driverInstallDir",
        "validator",
        "validator.driver",
        "validator.driver.env",
    ],
)
def test_one_misspelt_value_of_the_operator_publishes_nothing(path: str) -> None:
    found = installed(DISCOVERY, misspelt(OPERATOR, path))
    assert not found.resources
    assert found.annotations[DEVICES] != "8 GPUs published"


def test_misspelt_tolerations_of_the_operator_show_on_custom_taints() -> None:
    """The chart's default tolerates nvidia.com/gpu, so only another taint tells."""
    spoilt = changed(OPERATOR, "daemonsets.tolerations", [{"key": "team", "operator": "Exists"}])
    assert "do not tolerate taint nvidia.com/gpu" in installed(DISCOVERY, spoilt).annotations[DEVICES]


@pytest.mark.parametrize(
    "path", ["worker", "worker.tolerations", "worker.config", "worker.config.sources.pci.deviceLabelFields"]
)
def test_one_misspelt_value_of_discovery_is_seen(path: str) -> None:
    """A worker's own defaults find NVIDIA cards too, under another label: the machine is published, but differently."""
    assert installed(misspelt(DISCOVERY, path), OPERATOR) != installed(DISCOVERY, OPERATOR)
