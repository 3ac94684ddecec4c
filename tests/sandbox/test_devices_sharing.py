"""What the device plugin makes of its configurations, right and wrong."""

from typing import Any

import pytest

from sandbox.devices.decide import decide
from sandbox.devices.hardware import DEVICES
from tests.sandbox.device_objects import Object, changed, node, policy, view

GPU, SLICE = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"
FOUR = "{version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"
MPS = "{version: v1, sharing: {mps: {renameByDefault: true, resources: [{name: nvidia.com/gpu, replicas: 2}]}}}"
BOTH = (
    "{version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}, "
    "mps: {resources: [{name: nvidia.com/gpu, replicas: 3}]}}}"
)
ONE = "{version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/gpu, replicas: 1}]}}}"
MISSPELT = "{version: v1, sharing: {timeslicing: {resources: [{name: nvidia.com/gpu, replicas: 4}]}}}"
OTHERS = "{version: v1, sharing: {timeSlicing: {resources: [{name: nvidia.com/mig-1g.10gb, replicas: 4}]}}}"


def shared(data: dict[str, str] | None, default: str = "", label: str = "", strategy: str = "single") -> Any:
    spec: Object = changed(policy(), "spec.mig", {"strategy": strategy})
    spec = changed(spec, "spec.devicePlugin", {"config": {"name": "configs", "default": default}})
    here = node()
    here["metadata"]["labels"] = {"nvidia.com/device-plugin.config": label} if label else {}
    return decide(view(policies=(spec,), plugin_configs=data), here)


@pytest.mark.parametrize(
    ("data", "default", "label", "resources"),
    [
        ({"a": FOUR}, "", "", {GPU: "32"}),
        ({"a": FOUR, "b": MPS}, "", "", {GPU: "8"}),
        ({"a": FOUR, "b": MPS}, "b", "", {f"{GPU}.shared": "16"}),
        ({"a": FOUR, "b": MPS}, "b", "a", {GPU: "32"}),
        ({"a": BOTH}, "a", "", {GPU: "24"}),
        ({"a": MISSPELT}, "a", "", {GPU: "8"}),
        ({"a": OTHERS}, "a", "", {GPU: "8"}),
        ({"a": "version: v1"}, "a", "", {GPU: "8"}),
    ],
)
def test_a_configuration_is_chosen_and_multiplies(
    data: dict[str, str], default: str, label: str, resources: dict[str, str]
) -> None:
    found = shared(data, default, label)
    assert found.resources == resources
    assert found.ready is True


def test_labels_tell_of_sharing() -> None:
    found = shared({"a": FOUR}).labels
    assert found["nvidia.com/gpu.replicas"] == "4"
    assert found["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3-SHARED"
    renamed = shared({"a": MPS}).labels
    assert renamed["nvidia.com/mps.capable"] == "true"
    assert renamed["nvidia.com/gpu.product"] == "NVIDIA-H100-80GB-HBM3"


def test_without_feature_discovery_no_label_tells_of_sharing() -> None:
    spec = changed(policy(), "spec.devicePlugin", {"config": {"name": "configs"}})
    found = decide(view(policies=(changed(spec, "spec.gfd", {"enabled": False}),), plugin_configs={"a": FOUR}), node())
    assert found.resources == {GPU: "32"}
    assert not {"nvidia.com/gpu.replicas", "nvidia.com/gpu.sharing-strategy"} & set(found.labels)


LIBRARY = "{version: v1, mig-configs: {all: [{devices: all, mig-enabled: true, mig-devices: {1g.10gb: 7}}]}}"


def sliced(config: str, strategy: str) -> Any:
    spec = changed(policy(), "spec.mig", {"strategy": strategy})
    spec = changed(spec, "spec.devicePlugin", {"config": {"name": "configs"}})
    spec = changed(spec, "spec.migManager", {"version": "v0.12.3", "config": {"name": "x"}})
    here = changed(node(), "metadata.labels", {"nvidia.com/mig.config": "all"})
    return decide(view(policies=(spec,), plugin_configs={"a": config}, mig_library=LIBRARY), here)


@pytest.mark.parametrize(
    ("config", "strategy", "resources"),
    [
        (OTHERS, "mixed", {SLICE: "224"}),
        (FOUR, "mixed", {SLICE: "56"}),
        (FOUR, "single", {GPU: "224"}),
        (MPS, "single", {}),
        (MPS, "none", {f"{GPU}.shared": "16"}),
    ],
)
def test_slices_are_shared_by_time_alone(config: str, strategy: str, resources: dict[str, str]) -> None:
    found = sliced(config, strategy)
    assert found.resources == resources
    assert ("not supported on MIG devices" in found.annotations[DEVICES]) == (not resources)


@pytest.mark.parametrize(
    ("data", "default", "label", "strategy", "reason"),
    [
        (None, "a", "", "single", "there is no ConfigMap configs"),
        ({"a": FOUR}, "b", "", "single", "its configuration has no b"),
        ({"a": FOUR}, "a", "b", "single", "its configuration has no b"),
        ({"a": "version: v2"}, "a", "", "single", "not one of version v1"),
        ({"a": "a: [b"}, "a", "", "single", "not one of version v1"),
        ({"a": ONE}, "a", "", "single", "must be >= 2"),
        ({"a": MPS}, "a", "", "mixed", "not supported with MIG strategy mixed"),
    ],
)
def test_a_plugin_that_does_not_start_hands_out_nothing(
    data: dict[str, str] | None, default: str, label: str, strategy: str, reason: str
) -> None:
    found = shared(data, default, label, strategy)
    assert found.resources == {}
    assert reason in found.annotations[DEVICES]
    assert found.ready is False
