"""Where NVIDIA's DRA driver runs, what it tells of cards and slices, and that two allocators are seen."""

from typing import Any

import pytest

from sandbox.devices.decide import Published, decide
from sandbox.devices.hardware import DEVICES
from sandbox.devices.placement import ENFORCE
from tests.sandbox.device_objects import TOLERATION, Object, changed, node, policy, view

SELECTOR = {"somebody/claims": "yes"}
PRIVILEGED = {ENFORCE: "privileged"}
LIBRARY = """
version: v1
mig-configs:
  mixed:
    - {devices: [0], mig-enabled: true, mig-devices: {1g.10gb: 7}}
    - {devices: [1, 2, 3, 4, 5, 6, 7], mig-enabled: false, mig-devices: {}}
"""


def plugin(root: str = "/usr/local") -> Object:
    terms = [{"matchExpressions": [{"key": "nvidia.com/gpu.present", "operator": "In", "values": ["true"]}]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = {
        "nodeSelector": SELECTOR,
        "affinity": {"nodeAffinity": required},
        "tolerations": [TOLERATION],
        "volumes": [{"name": "driver-root", "hostPath": {"path": root}}],
    }
    return {"metadata": {"name": "p", "namespace": "dra"}, "spec": {"template": {"spec": pod}}}


def found(labels: dict[str, str] | None = None, **spoilt: Any) -> Published:
    here = node()
    opts_out = {"nvidia.com/gpu.deploy.device-plugin": "false"}
    here["metadata"]["labels"] = {**SELECTOR, **opts_out} if labels is None else labels
    spaces = {"nfd": PRIVILEGED, "gpu-operator": PRIVILEGED, "dra": PRIVILEGED}
    return decide(view(**{"dra_plugin": plugin(), "namespaces": spaces, **spoilt}), here)


def test_whole_cards_are_devices_with_their_memory() -> None:
    done = found()
    assert done.resources == {}
    assert done.annotations[DEVICES] == "8 devices published for claims"
    (told,) = done.slices
    assert (told["spec"]["driver"], told["spec"]["nodeName"]) == ("gpu.nvidia.com", "gpu-01")
    first = told["spec"]["devices"][0]
    assert first["attributes"]["type"] == {"string": "gpu"}
    assert first["attributes"]["productName"] == {"string": "NVIDIA H100 80GB HBM3"}
    assert first["capacity"]["memory"] == {"value": "81559Mi"}
    assert len({one["attributes"]["uuid"]["string"] for one in told["spec"]["devices"]}) == 8


def test_slices_are_devices_below_the_size_in_their_name() -> None:
    manager = {"enabled": True, "version": "v0.12.3", "config": {"name": "x"}}
    mixed = changed(policy(), "spec.migManager", manager)
    labels = {**SELECTOR, "nvidia.com/gpu.deploy.device-plugin": "false", "nvidia.com/mig.config": "mixed"}
    done = found(labels, policies=(mixed,), mig_library=LIBRARY)
    devices = done.slices[0]["spec"]["devices"]
    kinds = [one["attributes"]["type"]["string"] for one in devices]
    assert (kinds.count("mig"), kinds.count("gpu")) == (7, 7)
    assert devices[0]["attributes"]["profile"] == {"string": "1g.10gb"}
    assert 9_000 < int(devices[0]["capacity"]["memory"]["value"].removesuffix("Mi")) < 10_240


def test_two_allocators_on_a_node_are_seen() -> None:
    done = found(SELECTOR)
    assert done.annotations[DEVICES].startswith("handed out twice: 8 GPUs published")
    assert done.resources == {"nvidia.com/gpu": "8"}


def test_a_node_that_nobody_selects_stays_with_the_device_plugin() -> None:
    done = found({})
    assert done.slices == ()
    assert done.resources == {"nvidia.com/gpu": "8"}


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"dra_plugin": plugin("/")}, "nvidiaDriverRoot of the DRA driver is /"),
        ({"dra_plugin": changed(plugin(), "spec.template.spec.tolerations", [])}, "does not tolerate taint"),
        ({"namespaces": {"nfd": PRIVILEGED, "gpu-operator": PRIVILEGED}}, "namespace dra of the DRA driver lacks"),
    ],
)
def test_a_driver_that_cannot_work_tells_of_nothing(spoilt: dict[str, Any], reason: str) -> None:
    done = found(**spoilt)
    assert done.slices == ()
    assert reason in done.annotations[DEVICES]
