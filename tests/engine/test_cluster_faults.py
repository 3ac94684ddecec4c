"""An API server that is absent, the wrong one, or goes away; a webhook without a server."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from sandbox.control_plane import wait_for_api_server
from sandbox.processes import end, restart
from tests.components.test_webhook_races import BOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

WEBHOOK = "dead-webhook"


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack]) -> Stack:
    return make_stack("faults")


def with_cluster(stack: Stack, **keys: Any) -> dict[str, Any]:
    config = stack.config()
    return {**config, "gpu-platform:cluster": {**config["gpu-platform:cluster"], **keys}}


@pytest.fixture
def changed(stack: Stack) -> Iterator[Callable[..., None]]:
    """A function that changes section cluster for one test."""
    before = stack.config()

    def change(**keys: Any) -> None:
        stack.write(with_cluster(stack, **keys))

    yield change
    stack.write(before)


def unreachable(tmp: Any, sandbox: State) -> str:
    text = sandbox.kubeconfig.read_text(encoding="utf-8")
    path = tmp / "absent.kubeconfig"
    path.write_text(re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:1", text), encoding="utf-8")
    return str(path)


def test_a_preview_without_the_cluster_fails_in_a_sentence(
    stack: Stack, changed: Callable[..., None], sandbox: State, tmp_path: Any
) -> None:
    changed(kubeconfigFrom={"path": unreachable(tmp_path, sandbox)})
    done = stack.preview().failed()
    assert "unreachable cluster" in done.text
    assert "127.0.0.1:1" in done.text


def test_an_offline_preview_says_that_it_proves_nothing(
    stack: Stack, changed: Callable[..., None], sandbox: State, tmp_path: Any
) -> None:
    changed(kubeconfigFrom={"path": unreachable(tmp_path, sandbox)}, preview="offline")
    assert "CFG-016" in stack.preview().ok().text


def test_a_kubeconfig_that_does_not_exist_is_a_sentence(stack: Stack, changed: Callable[..., None]) -> None:
    changed(kubeconfigFrom={"path": "no/such/kubeconfig"})
    assert (
        "the kubeconfig no/such/kubeconfig (cluster.kubeconfigFrom.path) cannot be read"
        in stack.preview().failed().text
    )


@pytest.mark.parametrize("command", ["preview", "up"])
def test_the_wrong_cluster_is_refused_before_anything_is_touched(
    stack: Stack, changed: Callable[..., None], kube: Kube, command: str
) -> None:
    uid = kube.get("v1", "namespaces", None, "kube-system")["metadata"]["uid"]
    changed(uid="00000000-0000-0000-0000-000000000000")
    done = (stack.preview() if command == "preview" else stack.up()).failed()
    assert f"this is the wrong cluster: namespace kube-system has UID {uid}" in done.text
    names = {one["metadata"]["name"] for one in kube.items("v1", "namespaces")}
    assert names.isdisjoint({"gpu-operator", "node-feature-discovery"})
    changed(uid=uid)
    stack.preview().ok()


def webhook() -> dict[str, Any]:
    """Return a webhook on namespaces and deployments whose Service has no server."""
    rule = {
        "apiGroups": ["", "apps"],
        "apiVersions": ["v1"],
        "operations": ["*"],
        "resources": ["namespaces", "deployments"],
    }
    service = {"name": "nobody", "namespace": "default", "port": 443, "path": "/"}
    hook = {
        "name": "dead.example.com",
        "rules": [rule],
        "clientConfig": {"service": service},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": 1,
        "objectSelector": {"matchExpressions": [{"key": "sandbox", "operator": "NotIn", "values": ["exempt"]}]},
    }
    api, kind = "admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"
    return {"apiVersion": api, "kind": kind, "metadata": {"name": WEBHOOK}, "webhooks": [hook]}


@pytest.fixture
def dead_webhook(kube: Kube) -> Iterator[None]:
    """That webhook, for one test."""
    kube.create(webhook(), "validatingwebhookconfigurations")
    yield
    kube.delete("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", None, WEBHOOK)


def test_a_dead_webhook_at_preview_and_up_is_bounded_and_named_last(stack: Stack, dead_webhook: None) -> None:
    began = time.monotonic()
    stack.preview()
    assert time.monotonic() - began < 30
    began = time.monotonic()
    done = stack.up().failed()
    assert time.monotonic() - began < BOUND + 60
    assert "failed calling webhook" in done.text[-2500:]
    assert "dead.example.com" in done.text[-2500:]


def test_up_goes_on_once_the_webhook_is_gone_and_survives_a_short_loss_of_the_api_server(
    stack: Stack, sandbox: State
) -> None:
    def lose() -> None:
        time.sleep(5)
        end(sandbox.processes["kube-apiserver"])
        time.sleep(1)
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "devices"):
            sandbox.processes[name] = restart(sandbox.processes[name], sandbox.logs)
            if name == "kube-apiserver":
                wait_for_api_server(sandbox)
        sandbox.save()

    loser = threading.Thread(target=lose)
    loser.start()
    first = stack.up()
    loser.join()
    assert "Traceback" not in first.text
    stack.up().ok()  # what README.md says: run it again
    assert set(stack.up().ok().changes) == {"unchanged"}


def test_a_dead_webhook_at_destroy_is_bounded_and_destroy_goes_on_without_it(stack: Stack, kube: Kube) -> None:
    api, body = "admissionregistration.k8s.io/v1", webhook()
    kube.create(body, "validatingwebhookconfigurations")
    began = time.monotonic()
    done = stack.destroy().failed()
    kube.delete(api, "validatingwebhookconfigurations", None, WEBHOOK)
    assert time.monotonic() - began < 2 * BOUND
    # Helm keeps the reason to itself: README.md says where to look.
    assert "failed to delete release: gpu-operator" in done.text
    stack.destroy().ok()
    assert stack.resources() == []
