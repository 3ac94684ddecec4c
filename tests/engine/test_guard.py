"""Past the queues nobody gets cards, and queues keep what their jobs stand on: policies on the real API server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from sandbox.kube import ApiError, until
from tests.sandbox.charts import SCHEMAS, needs_published
from tests.stack_files import document, good

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.kube import Kube

pytestmark = pytest.mark.engine

POLICIES = {
    "ValidatingAdmissionPolicy": "validatingadmissionpolicies",
    "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}
SPACES = ("guarded-team", "guarded-other", "guarded-free")


def policies(guard: str, allocation: str = "devicePlugin") -> list[dict[str, Any]]:
    pool = {"gpu": {"model": "h100-sxm-80gb"}, "nodes": ["n1", "n2"], "allocation": allocation}
    training = {
        "queues": {"research": {"pools": "h100", "namespaces": "guarded-team"}},
        "guard": guard,
        "exempt": ["guarded-free"],
    }
    cluster = {"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.36.3"}
    found = good(document(cluster=cluster, inventory={"pools": {"h100": pool}}, training=training))
    return [one.body for one in found.training_queue.manifests if one.body["kind"] in POLICIES]


@pytest.fixture(scope="module")
def spaces(kube: Kube) -> Iterator[None]:
    for name in SPACES:
        kube.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, "namespaces")
    yield
    for name in SPACES:
        kube.delete("v1", "namespaces", None, name)


class Guarded:
    """The policies on the API server; it takes a moment until it asks them."""

    def __init__(self, kube: Kube, guard: str, allocation: str = "devicePlugin") -> None:
        self.kube, self.bodies = kube, policies(guard, allocation)

    def __enter__(self) -> Kube:
        for body in self.bodies:
            self.kube.apply(body, POLICIES[body["kind"]])
        time.sleep(2)
        return self.kube

    def __exit__(self, *_: object) -> None:
        for body in reversed(self.bodies):
            self.kube.delete(body["apiVersion"], POLICIES[body["kind"]], None, body["metadata"]["name"])
        time.sleep(2)


def pod(space: str, *, labels: dict[str, str] | None = None, init: bool = False, **spec: Any) -> dict[str, Any]:
    asks = {"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    idle = {"name": "idle", "image": "none"}
    containers = {"initContainers": [asks], "containers": [idle]} if init else {"containers": [asks]}
    body = {**containers, "automountServiceAccountToken": False, **spec}
    metadata = {"generateName": "ask-", "namespace": space, "labels": labels or {}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": body}


def refusal(kube: Kube, body: dict[str, Any], plural: str = "pods") -> str:
    """Return the sentence with which the API server refuses, and nothing when it takes it (as a dry run)."""
    path = kube.path(body["apiVersion"], plural, body["metadata"]["namespace"])
    try:
        kube.request("POST", f"{path}?dryRun=All", body)
    except ApiError as error:
        return str(error)
    return ""


def test_a_pod_gets_cards_in_a_queue_and_nowhere_else(kube: Kube, spaces: None) -> None:
    queue = {"kueue.x-k8s.io/queue-name": "research"}
    with Guarded(kube, "enforce"):
        until("the guard", lambda: refusal(kube, pod("guarded-other")), timeout=20)
        said = refusal(kube, pod("guarded-other"))
        assert "pods of namespace guarded-other get no cards" in said
        assert "namespace of a queue (guarded-team)" in said
        assert "training.exempt" in said
        assert "get no cards" in refusal(kube, pod("guarded-other", labels=queue))
        assert "get no cards" in refusal(kube, pod("guarded-other", init=True))
        said = refusal(kube, pod("guarded-team"))
        assert "give its job the label kueue.x-k8s.io/queue-name" in said
        assert refusal(kube, pod("guarded-team", labels=queue)) == ""
        assert refusal(kube, pod("guarded-team", labels={"kueue.x-k8s.io/podset": "main"})) == ""
        for free in ("guarded-free", "kube-system"):
            assert refusal(kube, pod(free)) == ""
        idle = pod("guarded-other")
        idle["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
        assert refusal(kube, idle) == ""


def test_claims_of_cards_are_made_where_queues_are(kube: Kube, spaces: None) -> None:
    request: dict[str, Any] = {"name": "card", "exactly": {"deviceClassName": "gpu.nvidia.com"}}
    first = {"name": "card", "firstAvailable": [{"name": "a", "deviceClassName": "gpu.nvidia.com"}]}
    other = {"name": "nic", "exactly": {"deviceClassName": "nic.example.com"}}

    def claim(space: str, request: dict[str, Any], *, template: bool) -> dict[str, Any]:
        spec: dict[str, Any] = {"devices": {"requests": [request]}}
        kind = "ResourceClaimTemplate" if template else "ResourceClaim"
        metadata = {"name": "one", "namespace": space}
        body = {"spec": spec} if template else spec
        return {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": body}

    queue = {"kueue.x-k8s.io/queue-name": "research"}
    claims: dict[str, Any] = {"resourceClaims": [{"name": "card", "resourceClaimName": "one"}]}
    with Guarded(kube, "enforce", "dra"):
        until("the guard", lambda: refusal(kube, claim("guarded-other", request, template=False), "resourceclaims"))
        for template, plural in ((False, "resourceclaims"), (True, "resourceclaimtemplates")):
            for asked in (request, first):
                said = refusal(kube, claim("guarded-other", asked, template=template), plural)
                assert "claims of namespace guarded-other get no cards" in said
                assert refusal(kube, claim("guarded-team", asked, template=template), plural) == ""
                assert refusal(kube, claim("guarded-free", asked, template=template), plural) == ""
            assert refusal(kube, claim("guarded-other", other, template=template), plural) == ""
        for body, refused in (
            (pod("guarded-team", **claims), True),
            (pod("guarded-team", labels=queue, **claims), False),
        ):
            body["spec"]["containers"][0]["resources"] = {"claims": [{"name": "card"}]}
            assert bool(refusal(kube, body)) is refused


def test_an_audit_lets_pods_pass(kube: Kube, spaces: None) -> None:

    def warned() -> str:
        assert refusal(kube, pod("guarded-other")) == ""
        return "".join(kube.warnings)

    with Guarded(kube, "audit"):
        assert "pods of namespace guarded-other get no cards" in until("the warning", warned, timeout=20)


@needs_published
def test_a_queue_keeps_the_flavors_that_its_jobs_stand_on(kube: Kube) -> None:
    text = (SCHEMAS / "crds" / "kueue-v0.18.6" / "kueue.x-k8s.io_clusterqueues.yaml").read_text(encoding="utf-8")
    definition = yaml.safe_load(text)
    definition["spec"].pop("conversion", None)
    kube.apply(definition, "customresourcedefinitions")
    name, api = "kept", "kueue.x-k8s.io/v1beta2"

    def queue(*flavors: str) -> dict[str, Any]:
        group = {
            "coveredResources": ["nvidia.com/gpu"],
            "flavors": [
                {"name": one, "resources": [{"name": "nvidia.com/gpu", "nominalQuota": "8"}]} for one in flavors
            ],
        }
        return {
            "apiVersion": api,
            "kind": "ClusterQueue",
            "metadata": {"name": name},
            "spec": {"resourceGroups": [group]},
        }

    def change(*flavors: str) -> str:
        try:
            kube.merge(api, "clusterqueues", None, name, {"spec": queue(*flavors)["spec"]})
        except ApiError as error:
            return str(error)
        return ""

    def use(count: str) -> None:
        amount = {"name": "nvidia.com/gpu", "total": count, "borrowed": "0"}
        status = {"flavorsReservation": [{"name": "a", "resources": [amount]}]}
        kube.merge(api, "clusterqueues", None, name, {"status": status}, sub="status")

    def there() -> Any:
        try:
            return kube.create(queue("a", "b"), "clusterqueues")
        except ApiError:
            return None

    try:
        with Guarded(kube, "off"):
            until("the definition", there)
            use("8")
            said = until("the policy", lambda: change("b"), timeout=20)
            assert "queue kept has jobs on a, which this change takes away" in said
            assert "hold: drain" in said
            assert change("a", "c") == ""
            use("0")
            assert change("b") == ""
    finally:
        kube.delete("apiextensions.k8s.io/v1", "customresourcedefinitions", None, definition["metadata"]["name"])
