"""The production and staging stack files preview against the sandbox; a cluster that others set up is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from sandbox import nodes
from sandbox.engine import engines
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.kube import Kube
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine


@pytest.mark.parametrize("name", ["prod", "staging"])
def test_a_preview_of_the_stack_file_works(make_stack: Callable[..., Stack], name: str) -> None:
    done = make_stack(f"preview-{name}", name).preview("--suppress-outputs").ok()
    assert set(done.changes) == {"to"}, done.text  # "+ N to create", and nothing else
    # The sandbox's Kubernetes is newer than the vendor's table of the network operator.
    assert {"COMPAT-007"} >= {line.split()[1] for line in done.text.splitlines() if line.strip().startswith("warning")}


def test_an_operator_that_exists_is_neither_touched_nor_removed(make_stack: Callable[[str], Stack], kube: Kube) -> None:
    theirs, ours = make_stack("theirs"), make_stack("ours")
    theirs.up().ok()
    config = ours.config()
    existing = {"manage": "existing", "version": "v0.19.0", "manageNamespace": "existing"}
    operators = {"nfd": existing, "gpu-operator": {**existing, "version": "v26.7.0"}}
    ours.write({**config, "gpu-platform:operators": operators})
    before = releases(kube)
    ours.up().ok()
    outputs = ours.outputs()["operators"]
    assert outputs["gpu-operator"]["requiredValues"]["hostPaths"] == {"driverInstallDir": "/usr/local"}
    ours.destroy().ok()
    assert releases(kube) == before
    theirs.destroy().ok()


def releases(kube: Kube) -> list[tuple[str, str]]:
    """Return name and resource version of every record that Helm keeps."""
    return sorted(
        (secret["metadata"]["name"], secret["metadata"]["resourceVersion"])
        for secret in kube.items("v1", "secrets")
        if secret["type"] == "helm.sh/release.v1"
    )


def test_a_foreign_namespace_is_kept_when_it_exists_already(make_stack: Callable[[str], Stack], kube: Kube) -> None:
    labels = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}
    body: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shared", "labels": labels}}
    kube.create(body, "namespaces")
    stack = make_stack("foreign")
    config = stack.config()
    operators = {
        name: {**operator, "namespace": "shared", "manageNamespace": "existing"}
        for name, operator in config["gpu-platform:operators"].items()
    }
    stack.write({**config, "gpu-platform:operators": operators})
    stack.up().ok()
    stack.destroy().ok()
    assert "deletionTimestamp" not in kube.get("v1", "namespaces", None, "shared")["metadata"]
    kube.delete("v1", "namespaces", None, "shared")


def test_a_changed_inventory_adds_and_removes_machines(kube: Kube) -> None:
    machines = nodes.inventory(PROJECT / "Pulumi.sandbox.yaml")
    kubelet = engines()["kubernetes"].version
    more = [*machines, nodes.Hardware("gpu-z-01", "h100-train", "talos", "v1.13.9", "h100-sxm-80gb", 8)]
    nodes.bring(kube, more, kubelet)
    assert kube.get("v1", "nodes", None, "gpu-z-01")
    nodes.bring(kube, machines, kubelet)
    assert "gpu-z-01" not in {one["metadata"]["name"] for one in kube.items("v1", "nodes")}
