"""NodeFeatureRules: which labels a master adds, and when there is none to add."""

from dataclasses import replace
from typing import Any

import pytest

from sandbox.devices.discovery import discover
from sandbox.devices.feature_rules import domain, labels
from sandbox.devices.hardware import machine
from tests.sandbox.device_objects import changed, node
from tests.sandbox.other_objects import AMD_LABEL, amd_node, amd_view, rule

VENDOR = {"vendor": {"op": "In", "value": ["1002"]}}


def features(*terms: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"feature": "pci.device", "matchExpressions": one} for one in terms]


def matched(**body: Any) -> bool:
    found = {"spec": {"rules": [{"name": "r", "labels": {"x": "true"}, **body}]}}
    return labels([found], machine(amd_node())) == {"feature.node.kubernetes.io/x": "true"}


@pytest.mark.parametrize(
    ("expressions", "holds"),
    [
        (VENDOR, True),
        ({**VENDOR, "class": {"op": "In", "value": ["1200", "0300"]}}, True),
        ({**VENDOR, "class": {"op": "In", "value": ["0300"]}}, False),
        ({"device": {"op": "Exists"}}, True),
        ({"subsystem_vendor": {"op": "Exists"}}, False),
        ({"subsystem_vendor": {"op": "DoesNotExist"}}, True),
        ({"vendor": {"op": "NotIn", "value": ["10de"]}}, True),
        ({"device": {"op": "InRegexp", "value": ["^74"]}}, True),
        ({"vendor": {"op": "Gt", "value": ["1"]}}, False),
    ],
)
def test_expressions_of_one_device(expressions: dict[str, Any], holds: bool) -> None:
    assert matched(matchFeatures=features(expressions)) is holds


def test_terms_are_all_needed_and_of_any_one() -> None:
    other = {"vendor": {"op": "In", "value": ["10de"]}}
    assert not matched(matchFeatures=features(VENDOR, other))
    assert matched(matchAny=[{"matchFeatures": features(other)}, {"matchFeatures": features(VENDOR)}])
    assert not matched(matchAny=[{"matchFeatures": features(VENDOR)}], matchFeatures=features(other))
    assert not matched(matchFeatures=[{"feature": "cpu.cpuid", "matchExpressions": {"AVX": {"op": "Exists"}}}])
    assert matched()


def test_labels_keep_to_their_domains() -> None:
    found = [rule(label) for label in ("kubernetes.io/x", "a.feature.node.kubernetes.io/x", "example.com/x")]
    assert set(labels(found, machine(amd_node()))) == {"a.feature.node.kubernetes.io/x", "example.com/x"}
    assert domain("a.feature.node.kubernetes.io/x")
    assert not domain("example.com/x")


def test_rules_see_devices_that_the_whitelist_leaves_out() -> None:
    narrow = replace(amd_view(), worker_config="sources: {pci: {deviceClassWhitelist: ['02']}}")
    found = discover(narrow, machine(amd_node()))
    assert found.labels[AMD_LABEL] == "true"
    assert found.reason


@pytest.mark.parametrize("config", ["core: {featureSources: [system]}", "core: {noPublish: true}"])
def test_a_worker_may_tell_the_master_nothing(config: str) -> None:
    quiet = replace(amd_view(), worker_config=config)
    assert AMD_LABEL not in discover(quiet, machine(amd_node())).labels


def test_without_worker_or_rule_there_is_no_label() -> None:
    assert AMD_LABEL not in discover(amd_view(rules=()), machine(amd_node())).labels
    away = changed(amd_node(), "spec.taints", [{"key": "x", "effect": "NoSchedule"}])
    assert not discover(amd_view(), machine(away)).labels
    assert AMD_LABEL not in discover(amd_view(), machine(node())).labels
