"""The real scheduler hands claimed cards out: a whole one, a slice, and none where none is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sandbox.kube import until
from tests.engine.vendor_stack import DRA_API, as_planned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.kube import Kube
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

SPACE = "inference"
# Thresholds lie below the size in the name: an 80 GB card has 81559 MiB, a slice less than its share.
H100 = (
    "device.attributes['gpu.nvidia.com'].productName.lowerAscii().matches('h100')"
    " && device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('75Gi'))"
)
SLICE = (
    "'profile' in device.attributes['gpu.nvidia.com'] && device.attributes['gpu.nvidia.com'].profile == '3g.40gb'"
    " && device.capacity['gpu.nvidia.com'].memory.isGreaterThan(quantity('35Gi'))"
)


def template(name: str, device_class: str, expression: str) -> dict[str, Any]:
    selector = {"cel": {"expression": expression}}
    request = {"name": "gpu", "exactly": {"deviceClassName": device_class, "selectors": [selector]}}
    return {
        "apiVersion": DRA_API,
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def pod(name: str, claims: str) -> dict[str, Any]:
    container = {"name": "model", "image": "model", "resources": {"claims": [{"name": "gpu"}]}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": claims}],
            "tolerations": [{"operator": "Exists"}],
            "containers": [container],
        },
    }


@pytest.fixture
def space(kube: Kube, vendors: Stack) -> Iterator[str]:
    as_planned(kube, vendors)
    kube.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}}, "namespaces")
    kube.create(template("one-h100", "gpu.nvidia.com", H100), "resourceclaimtemplates")
    kube.create(template("one-slice", "mig.nvidia.com", SLICE), "resourceclaimtemplates")
    # Pods wait for the account that every namespace gets.
    until("the namespace's account", lambda: kube.get("v1", "serviceaccounts", SPACE, "default"))
    yield SPACE
    for one in kube.items("v1", "pods", SPACE):
        kube.delete("v1", "pods", SPACE, one["metadata"]["name"], gracePeriodSeconds=0)
    until("claims to go", lambda: not kube.items(DRA_API, "resourceclaims", SPACE))
    kube.delete("v1", "namespaces", None, SPACE)
    until(
        "the namespace to go", lambda: SPACE not in {one["metadata"]["name"] for one in kube.items("v1", "namespaces")}
    )


def where(kube: Kube, prefix: str) -> list[str]:
    """Return the nodes of the pods that were placed."""
    pods = [one for one in kube.items("v1", "pods", SPACE) if one["metadata"]["name"].startswith(prefix)]
    return [one["spec"]["nodeName"] for one in pods if one["spec"].get("nodeName")]


def pending(kube: Kube, name: str) -> str:
    """Return why the scheduler does not place a pod, or nothing."""
    conditions = kube.get("v1", "pods", SPACE, name)["status"].get("conditions") or ()
    return next((one["message"] for one in conditions if one.get("reason") == "Unschedulable"), "")


@pytest.mark.parametrize(("claim", "node"), [("one-h100", "v-claims-01"), ("one-slice", "v-claims-02")])
def test_eight_are_there_and_the_ninth_waits(space: str, kube: Kube, claim: str, node: str) -> None:
    for number in range(8):
        kube.create(pod(f"{claim}-{number}", claim), "pods")
    until("eight pods", lambda: len(where(kube, claim)) == 8)
    assert set(where(kube, claim)) == {node}
    kube.create(pod(f"{claim}-8", claim), "pods")
    assert "cannot allocate all claims" in until("the ninth to be refused", lambda: pending(kube, f"{claim}-8"))
    kube.delete("v1", "pods", space, f"{claim}-0", gracePeriodSeconds=0)
    until("the ninth", lambda: kube.get("v1", "pods", space, f"{claim}-8")["spec"].get("nodeName") == node)


def test_each_pod_has_a_card_of_its_own(space: str, kube: Kube) -> None:
    for number in range(8):
        kube.create(pod(f"own-{number}", "one-h100"), "pods")
    until("eight pods", lambda: len(where(kube, "own")) == 8)
    allocated = [
        one["status"]["allocation"]["devices"]["results"] for one in kube.items(DRA_API, "resourceclaims", space)
    ]
    assert len({one[0]["device"] for one in allocated}) == 8
