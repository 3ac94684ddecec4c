"""From the first preview to an empty cluster again, as `make demo` and every production stack go."""

from __future__ import annotations

import base64
import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
import requests

from gpu_platform.outputs import parse
from gpu_platform.planning import plan
from gpu_platform.reports.review import as_markdown, read
from sandbox import factory
from sandbox.devices.boot import boot
from sandbox.kube import until
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

CANARY = "canary-3f9c2e7a"


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack]) -> Stack:
    made = make_stack("main")
    made.run("config", "set", "--secret", "gpu-platform:factoryToken", CANARY).ok()
    return made


@pytest.fixture(scope="module")
def first_preview(stack: Stack) -> str:
    return stack.preview("--diff", "--show-full-output").ok().text


@pytest.fixture(scope="module")
def deployed(stack: Stack, first_preview: str) -> Stack:
    stack.up().ok()
    return stack


@pytest.fixture(scope="module")
def booted(deployed: Stack, kube: Kube, sandbox: State) -> dict[str, Any]:
    outputs = deployed.outputs()
    boot(kube, outputs, factory.url(sandbox))
    return outputs


def gpus(kube: Kube) -> dict[str, int]:
    return {
        node["metadata"]["name"]: int(node["status"]["allocatable"].get("nvidia.com/gpu", 0))
        for node in kube.items("v1", "nodes")
    }


def test_the_first_preview_shows_the_exact_id_and_installer(first_preview: str, deployed: Stack) -> None:
    for image in deployed.outputs()["imageClasses"].values():
        assert image["schematicId"] in first_preview
        assert image["installer"] in first_preview


def test_the_factory_has_every_schematic_under_the_planned_id(deployed: Stack, sandbox: State) -> None:
    images = deployed.outputs()["imageClasses"].values()
    assert len(images) == 3
    for image in images:
        answer = requests.get(f"{factory.url(sandbox)}/schematics/{image['schematicId']}", timeout=10)
        assert (answer.status_code, answer.text) == (200, image["schematic"])


def test_helm_says_that_both_releases_are_deployed(deployed: Stack, kube: Kube) -> None:
    labels = [
        secret["metadata"]["labels"]
        for namespace in ("gpu-operator", "node-feature-discovery")
        for secret in kube.items("v1", "secrets", namespace)
        if secret["type"] == "helm.sh/release.v1"
    ]
    assert {(one["name"], one["status"]) for one in labels} == {
        ("gpu-operator", "deployed"),
        ("node-feature-discovery", "deployed"),
    }


def test_devices_are_published_because_of_what_up_created(booted: dict[str, Any], kube: Kube) -> None:
    wanted = {name: node["gpuCount"] for name, node in booted["nodes"].items() if node["installer"]}
    until("GPUs", lambda: {name: gpus(kube)[name] for name in wanted} == wanted, timeout=30)
    assert sum(wanted.values()) == 8 * 8 + 2 * 4


def test_a_second_up_changes_nothing(booted: dict[str, Any], stack: Stack) -> None:
    done = stack.up().ok()
    assert set(done.changes) == {"unchanged"}, done.text


def test_a_refresh_changes_nothing(booted: dict[str, Any], stack: Stack) -> None:
    done = stack.refresh().ok()
    assert set(done.changes) == {"unchanged"}, done.text


def test_outputs_fit_the_contract(deployed: Stack) -> None:
    exported = deployed.outputs()
    jsonschema.validate(exported, json.loads((PROJECT / "contract" / "outputs.v1.json").read_text(encoding="utf-8")))
    assert parse(exported).nodes["gpu-a-01"].gpu_count == 8


def test_a_review_of_no_change_says_so_and_of_a_change_names_nodes(deployed: Stack) -> None:
    assert "Nothing changes." in as_markdown(read(deployed.preview_json()))
    config = deployed.config()
    changed = json.loads(json.dumps(config))
    changed["gpu-platform:inventory"]["pools"]["h100-train"]["image"] = {"kernelArgs": ["iommu=pt"]}
    deployed.write(changed)
    try:
        text = as_markdown(read(deployed.preview_json()))
    finally:
        deployed.write(config)
    assert "8 nodes to upgrade" in text
    assert "**reboots** gpu-a-01, gpu-a-02, gpu-a-03" in text
    assert "(64 GPUs): needs `talosctl upgrade" in text
    assert "kernel args `none` → `iommu=pt`" in text


def test_secrets_appear_nowhere(deployed: Stack, sandbox: State, first_preview: str) -> None:
    key = (sandbox.directory / "pki" / "admin.key").read_text(encoding="ascii")
    canaries = (CANARY, base64.b64encode(key.encode()).decode()[:200], key.splitlines()[1])
    logs = "".join(path.read_text(errors="replace") for path in sandbox.logs.glob("*.log"))
    rendered = json.dumps([str(plan(_keys(deployed.config())))])
    places = {
        "state": json.dumps(deployed.export()),
        "outputs": json.dumps(deployed.outputs()),
        "preview": first_preview,
        "refresh": deployed.refresh().text,
        "render": rendered,
        "logs": logs,
    }
    for canary in canaries:
        for place, text in places.items():
            assert canary not in text, f"a secret stands in the {place}"


def _keys(config: dict[str, Any]) -> dict[str, Any]:
    return {
        key.removeprefix("gpu-platform:"): value for key, value in config.items() if key.startswith("gpu-platform:")
    }


def test_destroy_leaves_nothing_in_the_disposable_cluster(booted: dict[str, Any], stack: Stack, kube: Kube) -> None:
    done = stack.destroy().ok()
    assert re.search(r"- \d+ deleted", done.text)
    assert stack.resources() == []
    namespaces = {one["metadata"]["name"] for one in kube.items("v1", "namespaces")}
    assert namespaces.isdisjoint({"gpu-operator", "node-feature-discovery"})
    for plural, api in (("clusterroles", "rbac.authorization.k8s.io/v1"), ("runtimeclasses", "node.k8s.io/v1")):
        until(f"no {plural}", partial(_none_of_ours, kube, api, plural), timeout=20)
    until("no GPUs", lambda: not any(gpus(kube).values()), timeout=20)


def _none_of_ours(kube: Kube, api: str, plural: str) -> bool:
    names = [one["metadata"]["name"] for one in kube.items(api, plural)]
    return not [name for name in names if "gpu-operator" in name or "node-feature" in name or name.startswith("nvidia")]
