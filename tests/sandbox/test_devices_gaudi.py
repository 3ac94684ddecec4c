"""Gaudi: nothing on Talos, and elsewhere what the operator or the DRA driver hands out."""

from typing import Any

import pytest

from sandbox.devices.decide import decide
from sandbox.devices.hardware import DEVICES
from tests.sandbox.device_objects import TOLERATION, Object, changed, node
from tests.sandbox.other_objects import amd_view, rule

OPERATOR = {"metadata": {"name": "controller-manager", "namespace": "g"}, "status": {"availableReplicas": 1}}
POLICY: Object = {"metadata": {"name": "habana-ai"}, "spec": {"accelerator_allocation_mode": "device-plugin"}}
PLUGIN: Object = {"spec": {"template": {"spec": {"tolerations": [TOLERATION], "nodeSelector": {}}}}}
LABEL = "intel.feature.node.kubernetes.io/gaudi"
BOTH: Object = {"gaudi_operator": OPERATOR, "gaudi_policies": (POLICY,)}


def gaudi(system: str = "ubuntu") -> Object:
    return changed(node("gaudi3-128gb", extensions=(), modules=(), system=system), "spec.taints", [])


def test_talos_has_no_driver() -> None:
    found = decide(amd_view(**BOTH, gaudi_plugin=PLUGIN), gaudi("talos"))
    assert "Talos has no driver for Gaudi3" in found.annotations[DEVICES]
    assert not found.resources
    assert not found.slices


def test_the_operator_publishes_the_cards() -> None:
    found = decide(amd_view(**BOTH), gaudi())
    assert (found.annotations[DEVICES], found.resources) == ("8 Gaudi published", {"habana.ai/gaudi": "8"})


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ({}, "no ClusterPolicy of Intel's Gaudi operator"),
        ({**BOTH, "gaudi_operator": None}, "controller manager is not available"),
        ({**BOTH, "gaudi_policies": (changed(POLICY, "spec.accelerator_allocation_mode", "dra"),)}, "mode is dra"),
        ({**BOTH, "gaudi_policies": (changed(POLICY, "spec.node_selector", {"a": "b"}),)}, "node_selector selects"),
        ({"gaudi_plugin": changed(PLUGIN, "spec.template.spec.nodeSelector", {LABEL: "true"})}, "selects nodes with"),
    ],
)
def test_nothing_is_handed_out(spoilt: dict[str, Any], reason: str) -> None:
    found = decide(amd_view(**spoilt), gaudi())
    assert reason in found.annotations[DEVICES]
    assert not found.resources
    assert not found.slices


def test_a_taint_keeps_pods_away() -> None:
    tainted = changed(gaudi(), "spec.taints", [{"key": "x", "effect": "NoSchedule"}])
    found = decide(amd_view(**BOTH, gaudi_plugin=PLUGIN), tainted)
    assert "does not tolerate taint x:NoSchedule" in found.annotations[DEVICES]
    assert (found.resources, found.slices) == ({}, ())


def test_the_dra_driver_publishes_a_slice() -> None:
    labelled = changed(PLUGIN, "spec.template.spec.nodeSelector", {LABEL: "true"})
    found = decide(amd_view(gaudi_plugin=labelled, rules=(rule(LABEL, "1da3", "1060"),)), gaudi())
    device = found.slices[0]["spec"]["devices"][0]
    assert device["name"] == "0000-05-00-0-0x1060"
    assert device["attributes"]["model"] == {"string": "Gaudi3"}
    assert device["attributes"]["healthy"] == {"bool": True}
    assert device["attributes"]["pciRoot"] == {"string": "00"}


def test_the_published_rule_does_not_know_the_card() -> None:
    """The DRA chart's nodeFeatureRules name devices 1020 and 1030; an HL-325L says 1060."""
    labelled = changed(PLUGIN, "spec.template.spec.nodeSelector", {LABEL: "true"})
    found = decide(amd_view(gaudi_plugin=labelled, rules=(rule(LABEL, "1da3", "1030"),)), gaudi())
    assert not found.slices
