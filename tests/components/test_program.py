"""What the whole program registers is what the plan says, with the options that keep a platform safe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pulumi
import pytest
import yaml

from gpu_platform.reports.render import files
from gpu_platform.settings.document import load
from tests.components.program import UID, Registered, run
from tests.stack_files import FIXTURES, document, good

if TYPE_CHECKING:
    from pathlib import Path


def cluster(**keys: Any) -> dict[str, Any]:
    return document(cluster={"name": "lab", "talosVersion": "v1.13.9", **keys})


def of_type(registered: list[Registered], type_: str) -> dict[str, Registered]:
    return {one.name: one for one in registered if one.type == type_}


def test_every_urn_is_its_own() -> None:
    registered = run(document())
    assert len({one.urn for one in registered}) == len(registered)


def test_the_objects_registered_are_those_of_render() -> None:
    keys = load(FIXTURES / "valid" / "three-vendors.yaml").keys
    rendered = files(good(keys))
    registered = run(keys)
    objects = {
        one.name: one.inputs
        for one in registered
        if one.type.startswith("kubernetes:") and one.type != "kubernetes:helm.sh/v3:Release"
    }
    releases = {
        name: one.inputs["values"] for name, one in of_type(registered, "kubernetes:helm.sh/v3:Release").items()
    }
    assert {f"gpu-operator/objects/{name}.yaml": body for name, body in objects.items()} == {
        name: yaml.safe_load(text) for name, text in rendered.items() if "/objects/" in name
    }
    assert {f"gpu-operator/releases/{name}.values.yaml": values for name, values in releases.items()} == {
        name: yaml.safe_load(text) for name, text in rendered.items() if name.endswith(".values.yaml")
    }


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("valid/*.yaml")), ids=lambda path: path.stem)
def test_the_program_runs_to_its_end_with_every_valid_stack_file(path: Path) -> None:
    assert run(load(path).keys)


def test_children_are_parented_by_their_components() -> None:
    parents = {one.name: one.request.parent.rsplit("::", 1)[-1] for one in run(document())}
    assert parents["h100"] == "talos-gpu-image"
    assert parents["gpu-operator-namespace"] == parents["nfd"] == "gpu-operator"


@pytest.mark.parametrize("disposable", [True, False])
def test_only_a_disposable_cluster_may_lose_namespaces_and_operators(disposable: bool) -> None:
    registered = run(cluster(disposable=disposable))
    releases = of_type(registered, "kubernetes:helm.sh/v3:Release").values()
    namespaces = of_type(registered, "kubernetes:core/v1:Namespace").values()
    assert len(releases) == len(namespaces) == 2
    assert {one.request.protect for one in releases} == {not disposable}
    assert {one.request.retainOnDelete for one in namespaces} == {not disposable}


def test_everything_in_the_cluster_waits_for_the_proof_that_it_is_the_right_one() -> None:
    registered = run(document())
    in_cluster = [one for one in registered if one.type.startswith("kubernetes:")]
    assert len(in_cluster) == 5
    for one in in_cluster:
        assert any(urn.endswith("::kube-system") for urn in one.request.dependencies), one


def test_the_operator_comes_after_its_namespace_and_after_feature_discovery() -> None:
    release = of_type(run(document()), "kubernetes:helm.sh/v3:Release")["gpu-operator"]
    names = {urn.rsplit("::", 1)[-1] for urn in release.request.dependencies}
    assert names == {"kube-system", "gpu-operator-namespace", "nfd", "dcgm-counters"}


def test_the_wrong_cluster_stops_the_program_before_anything_is_registered_in_it() -> None:
    with pytest.raises(pulumi.RunError, match="this is the wrong cluster"):
        run(cluster(uid="99999999-0000-0000-0000-000000000000"))
    registered = run(cluster(uid=UID))
    assert of_type(registered, "kubernetes:helm.sh/v3:Release")


def test_phase_image_registers_no_provider() -> None:
    types = {one.type for one in run(cluster(phase="image"))}
    assert not any("kubernetes" in type_ for type_ in types)


def test_an_offline_preview_reads_nothing() -> None:
    registered = run(cluster(preview="offline"))
    assert not any("kube-system" in urn for one in registered for urn in one.request.dependencies)


def test_the_kubeconfig_is_a_secret() -> None:
    registered = run(document(kubeconfig={"secure": "canary-kubeconfig"}))
    provider = of_type(registered, "pulumi:providers:kubernetes")["lab"]
    kubeconfig = provider.inputs["kubeconfig"]
    assert isinstance(kubeconfig, dict)
    assert kubeconfig["value"] == "canary-kubeconfig"
    everything_else = json.dumps([one.inputs for one in registered if one is not provider])
    assert "canary" not in everything_else


def test_adding_a_pool_touches_only_its_own_resources() -> None:
    pools = {"h100": {"gpu": {"model": "h100-sxm-80gb"}, "nodes": ["gpu-01"]}}
    more = {**pools, "l4": {"gpu": {"model": "l4-24gb"}, "nodes": ["l4-01"]}}
    before, after = (
        {one.urn: one.inputs for one in run(document(inventory={"pools": each}))} for each in (pools, more)
    )
    assert {urn.rsplit("::", 1)[-1] for urn in set(after) - set(before)} == {"l4"}
    changed = [urn for urn in before if before[urn] != after[urn]]
    assert changed == []


@pytest.mark.filterwarnings(
    "ignore::pytest.PytestUnraisableExceptionWarning"
)  # the SDK's, of a program that ends early
def test_findings_end_the_program_in_one_error_with_all_of_them() -> None:
    broken = load(FIXTURES / "invalid" / "node-in-two-pools.yaml").keys
    with pytest.raises(pulumi.RunError) as raised:
        run({**broken, "factoryToken": "in clear"})
    text = str(raised.value)
    assert "CFG-008" in text
    assert "CFG-009" in text
    assert "in clear" not in text


@pytest.mark.parametrize("nodes", [10, 400])
def test_shared_objects_do_not_grow_with_the_nodes(nodes: int) -> None:
    inventory = {"pools": {"h100": {"gpu": {"model": "h100-sxm-80gb"}, "nodes": [f"gpu-{n:04}" for n in range(nodes)]}}}
    assert len(run(document(inventory=inventory))) == 11


def test_queues_are_registered_after_kueue_and_what_they_name() -> None:
    keys = load(FIXTURES / "valid" / "queues-and-cards-that-models-lend.yaml").keys
    found = run(keys)
    names = [one.name for one in found]
    for before, after in (
        ("kueue", "h100-g2-flavor"),
        ("h100-g2-flavor", "research-queue"),
        ("h100-cohort", "h100-scavenger-queue"),
        ("research-queue", "team-research-research-local-queue"),
        ("team-research-research-local-queue", "guard-pods-policy"),
        ("guard-pods-policy", "guard-pods-binding"),
    ):
        assert names.index(before) < names.index(after)
        request = next(one for one in found if one.name == after)
        assert any(urn.endswith(f"::{before}") for urn in request.request.dependencies), (before, after)
