"""Runtime classes and the status of ClusterPolicies: there with the operator's policy, gone with it."""

from typing import Any

from sandbox.devices.operator import runtime_classes, statuses
from tests.sandbox.device_objects import changed, operator, policy, view

NOW = "2026-12-01T00:00:00Z"


def names(found: list[dict[str, Any]]) -> list[str]:
    return [one["metadata"]["name"] for one in found]


def test_runtime_classes_come_with_the_policy() -> None:
    gone, wanted = runtime_classes(view(), [])
    assert (gone, names(wanted)) == ([], ["nvidia", "nvidia-cdi", "nvidia-legacy"])
    assert wanted[0]["handler"] == "nvidia"
    assert wanted[0]["metadata"]["ownerReferences"][0]["uid"] == "p1"
    assert runtime_classes(view(), wanted) == ([], [])


def test_the_policy_names_the_runtime_class() -> None:
    other = changed(changed(policy(), "spec.operator", {"runtimeClass": "gpu"}), "spec.cdi", {"enabled": False})
    gone, wanted = runtime_classes(view(policies=(other,)), runtime_classes(view(), [])[1])
    assert (sorted(gone), names(wanted)) == (["nvidia", "nvidia-cdi", "nvidia-legacy"], ["gpu"])


def test_runtime_classes_go_with_the_policy_not_with_the_operator() -> None:
    there = runtime_classes(view(), [])[1]
    assert runtime_classes(view(operator=None), there) == ([], [])
    assert len(runtime_classes(view(policies=()), there)[0]) == 3
    assert len(runtime_classes(view(policies=(), operator=None), there)[0]) == 3


def test_somebody_elses_runtime_class_is_taken_over_or_left_alone() -> None:
    foreign = [{"metadata": {"name": "nvidia"}}, {"metadata": {"name": "gvisor"}}]
    gone, wanted = runtime_classes(view(), foreign)
    assert gone == []
    assert "nvidia" in names(wanted)
    assert runtime_classes(view(policies=()), foreign) == ([], [])


def test_a_new_policy_takes_the_runtime_classes_of_the_old_one() -> None:
    there = runtime_classes(view(), [])[1]
    gone, wanted = runtime_classes(view(policies=(changed(policy(), "metadata.uid", "p2"),)), there)
    assert gone == []
    assert len(wanted) == 3


def test_the_status_is_written_once() -> None:
    status = statuses(view(), [], NOW)["cluster-policy"]
    assert (status["state"], status["namespace"]) == ("ready", "gpu-operator")
    assert statuses(view(policies=(changed(policy(), "status", status),)), [], NOW) == {}


def test_a_failing_node_is_named() -> None:
    status = statuses(view(), ["b", "a"], NOW)["cluster-policy"]
    assert status["state"] == "notReady"
    assert status["conditions"][0]["message"] == "not ready on a, b"


def test_a_second_policy_is_ignored() -> None:
    both = (policy(), changed(policy(), "metadata.name", "mine"))
    assert statuses(view(policies=both), [], NOW)["mine"]["state"] == "ignored"


def test_nobody_writes_without_an_operator() -> None:
    assert statuses(view(operator=None), [], NOW) == {}
    assert statuses(view(operator=changed(operator(), "status", {})), [], NOW) == {}
