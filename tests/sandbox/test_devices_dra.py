"""Where NVIDIA's DRA driver runs, what it tells of cards and slices, and that two allocators are seen."""

from typing import Any

import pytest

from sandbox.devices.decide import Published, decide
from sandbox.devices.hardware import DEVICES
from sandbox.devices.placement import ENFORCE
from tests.sandbox.device_objects import CLAIMS, changed, dra_plugin, node, operator, policy, view

PRIVILEGED = {ENFORCE: "privileged"}
LIBRARY = """
version: v1
mig-configs:
  mixed:
    - {devices: [0], mig-enabled: true, mig-devices: {1g.10gb: 7}}
    - {devices: [1, 2, 3, 4, 5, 6, 7], mig-enabled: false, mig-devices: {}}
  empty:
    - {devices: all, mig-enabled: true, mig-devices: {}}
"""


def found(labels: dict[str, str] | None = None, **spoilt: Any) -> Published:
    here = node()
    opts_out = {"nvidia.com/gpu.deploy.device-plugin": "false"}
    here["metadata"]["labels"] = {**CLAIMS, **opts_out} if labels is None else labels
    spaces = {"nfd": PRIVILEGED, "gpu-operator": PRIVILEGED, "dra": PRIVILEGED}
    return decide(view(**{"dra_plugin": dra_plugin(), "namespaces": spaces, **spoilt}), here)


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
    assert first["attributes"]["brand"] == {"string": "Nvidia"}
    assert first["attributes"]["architecture"] == {"string": "Hopper"}
    versions = {key: one["version"] for key, one in first["attributes"].items() if "version" in one}
    assert versions == {"cudaComputeCapability": "9.0.0", "driverVersion": "595.91.7", "cudaDriverVersion": "13.2.0"}
    assert len({one["attributes"]["uuid"]["string"] for one in told["spec"]["devices"]}) == 8


def test_the_node_owns_its_slice() -> None:
    (told,) = found().slices
    (owner,) = told["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"]) == ("Node", "gpu-01", "u1")


def cut_as(wanted: str, **more: str) -> Published:
    manager = {"enabled": True, "version": "v0.12.3", "config": {"name": "x"}}
    mixed = changed(policy(), "spec.migManager", manager)
    labels = {**CLAIMS, "nvidia.com/gpu.deploy.device-plugin": "false", "nvidia.com/mig.config": wanted, **more}
    return found(labels, policies=(mixed,), mig_library=LIBRARY)


def test_slices_are_devices_below_the_size_in_their_name() -> None:
    devices = cut_as("mixed").slices[0]["spec"]["devices"]
    kinds = [one["attributes"]["type"]["string"] for one in devices]
    assert (kinds.count("mig"), kinds.count("gpu")) == (7, 7)
    assert devices[0]["attributes"]["profile"] == {"string": "1g.10gb"}
    assert 9_000 < int(devices[0]["capacity"]["memory"]["value"].removesuffix("Mi")) < 10_240
    whole = found().slices[0]["spec"]["devices"]
    assert devices[0]["attributes"]["parentUUID"] == whole[0]["attributes"]["uuid"]


def test_cards_that_are_cut_into_nothing_are_no_devices() -> None:
    done = cut_as("empty")
    assert done.slices == ()
    assert "no device to tell of" in done.annotations[DEVICES]


@pytest.mark.parametrize("operand", ["mig-manager", "operands"])
def test_who_opts_out_of_the_manager_keeps_whole_cards(operand: str) -> None:
    done = cut_as("mixed", **{f"nvidia.com/gpu.deploy.{operand}": "false"})
    assert {one["attributes"]["type"]["string"] for one in done.slices[0]["spec"]["devices"]} == {"gpu"}
    assert "nvidia.com/mig.config.state" not in done.labels


def test_two_allocators_on_a_node_are_seen() -> None:
    done = found(CLAIMS)
    assert done.annotations[DEVICES].startswith("handed out twice: 8 GPUs published")
    assert done.resources == {"nvidia.com/gpu": "8"}


def test_a_plugin_of_compute_domains_alone_hands_no_card_out() -> None:
    done = found(CLAIMS, dra_plugin=dra_plugin(containers=("compute-domains",)))
    assert (done.slices, done.annotations[DEVICES]) == ((), "8 GPUs published")


def test_claims_outlive_a_restart_of_the_operator() -> None:
    served = found()
    here = node()
    here["metadata"]["labels"] = {**CLAIMS, **served.labels, "nvidia.com/gpu.deploy.device-plugin": "false"}
    spaces = {"nfd": PRIVILEGED, "gpu-operator": PRIVILEGED, "dra": PRIVILEGED}
    away = view(dra_plugin=dra_plugin(), namespaces=spaces, operator=changed(operator(), "status", {}))
    again = decide(away, here)
    assert again.annotations == served.annotations
    assert "nvidia.com/gpu.product" in again.labels


def test_a_fault_of_the_operator_is_not_hidden_behind_devices() -> None:
    broken = changed(policy(), "spec.toolkit.enabled", True)
    done = found(policies=(broken,))
    assert done.annotations[DEVICES].startswith("8 devices published for claims; toolkit.enabled is true")
    assert done.ready is False


def test_a_driver_that_cannot_work_hides_no_device_dra_plugin() -> None:
    done = found(CLAIMS, dra_plugin=dra_plugin("/"))
    assert done.annotations[DEVICES].startswith("8 GPUs published; nvidiaDriverRoot")


def test_a_node_that_nobody_selects_stays_with_the_device_dra_plugin() -> None:
    done = found({})
    assert done.slices == ()
    assert done.resources == {"nvidia.com/gpu": "8"}


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({"dra_plugin": dra_plugin("/")}, "nvidiaDriverRoot of the DRA driver is /"),
        ({"dra_plugin": changed(dra_plugin(), "spec.template.spec.tolerations", [])}, "does not tolerate taint"),
        ({"namespaces": {"nfd": PRIVILEGED, "gpu-operator": PRIVILEGED}}, "namespace dra of the DRA driver lacks"),
    ],
)
def test_a_driver_that_cannot_work_tells_of_nothing(spoilt: dict[str, Any], reason: str) -> None:
    done = found(**spoilt)
    assert done.slices == ()
    assert reason in done.annotations[DEVICES]
