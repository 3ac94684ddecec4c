"""Rails in every mode: handed out because of what `up` created, and to pods that say what the outputs say."""

from __future__ import annotations

import copy
import ipaddress
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from sandbox import factory, nodes, overlay
from sandbox.devices.boot import boot
from sandbox.engine import engines
from sandbox.kube import until
from tests.stack_files import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sandbox.kube import Kube
    from sandbox.state import State
    from tests.engine.pulumi_stack import Stack

pytestmark = pytest.mark.engine

FILE = Path(__file__).with_name("fabric.yaml")
MODES = {
    "ib-shared": "f-ib",
    "ipoib-shared": "f-ib",
    "host-device": "f-eth",
    "macvlan-shared": "f-eth",
    "sriov-static": "f-ib",
    "sriov": "f-eth",
    "dra": "f-new",
}
# What a mode is told beyond its name.
MORE: dict[str, dict[str, Any]] = {
    "sriov-static": {
        "ufm": {"secret": "ufm", "guidStart": "02:00:00:00:00:00:00:00", "guidEnd": "02:00:00:00:00:00:FF:FF"},
        "vfs": 2,
    },
    "sriov": {"sriovDaemonImage": "registry.lab/sriov-network-operator-config-daemon:talos", "vfs": 2},
}
SPACE = "training"


@pytest.fixture(scope="module")
def stack(make_stack: Callable[[str], Stack], kube: Kube) -> Iterator[Stack]:
    """A stack and machines on both fabrics; the machines are gone afterwards."""
    own = nodes.inventory(PROJECT / "Pulumi.sandbox.yaml")
    more = [one for one in nodes.inventory(FILE) if one.pool != "system"]
    nodes.bring(kube, [*own, *more], engines()["kubernetes"].version)
    made = make_stack("fabric")
    yield made
    made.destroy().ok()
    nodes.bring(kube, own, engines()["kubernetes"].version)


def configured(sandbox: State, mode: str, **fabric: Any) -> dict[str, Any]:
    """Return the stack's configuration with the pool that a mode is for."""
    found = copy.deepcopy(overlay.config(sandbox, FILE))
    pools = found["gpu-platform:inventory"]["pools"]
    found["gpu-platform:inventory"] = {"pools": {MODES[mode]: pools[MODES[mode]]}}
    found["gpu-platform:fabric"] |= {"mode": mode, **MORE.get(mode, {}), **fabric}
    return found


def allocatable(kube: Kube, name: str) -> dict[str, str]:
    found: dict[str, str] = kube.get("v1", "nodes", None, name)["status"]["allocatable"]
    return found


def pod(name: str, patch: dict[str, Any]) -> dict[str, Any]:
    """Return a pod that is the patch, with a name and an image."""
    body = copy.deepcopy(patch)
    body["spec"]["containers"][0] |= {"name": "train", "image": "train"}
    body["spec"]["tolerations"] = [{"operator": "Exists"}]
    head = {"apiVersion": "v1", "kind": "Pod"}
    return {**head, **body, "metadata": {**body.get("metadata", {}), "name": name, "namespace": SPACE}}


def unschedulable(kube: Kube, name: str) -> str:
    conditions = kube.get("v1", "pods", SPACE, name)["status"].get("conditions") or ()
    return next((str(one["message"]) for one in conditions if one.get("reason") == "Unschedulable"), "")


@pytest.mark.parametrize("mode", MODES)
def test_a_pod_with_the_patch_gets_cards_and_rails(mode: str, stack: Stack, kube: Kube, sandbox: State) -> None:
    stack.write(configured(sandbox, mode)).up().ok()
    outputs = stack.outputs()
    boot(kube, outputs, factory.url(sandbox))
    pool = outputs["fabric"]["pools"][MODES[mode]]
    names = [name for name, node in outputs["nodes"].items() if node["pool"] == MODES[mode]]
    for name in names:
        until(f"rails of {name}", lambda: pool["limits"].keys() <= allocatable(kube, name).keys(), timeout=60)  # noqa: B023
    assert set(stack.up().ok().changes) == {"unchanged"}
    until("the account", lambda: kube.get("v1", "serviceaccounts", SPACE, "default"))
    try:
        for number in range(len(names)):
            kube.create(pod(f"rank-{number}", pool["patch"]), "pods")
        until(
            "the ranks",
            lambda: len({where(kube, f"rank-{number}") for number in range(len(names))} - {""}) == len(names),
        )
        attached(kube, [f"rank-{number}" for number in range(len(names))], pool)
        kube.create(pod("one-too-many", pool["patch"]), "pods")
        refusal = until("a refusal", lambda: unschedulable(kube, "one-too-many"))
        assert "Insufficient" in refusal or "cannot allocate all claims" in refusal
    finally:
        clear(kube)
    proven(kube, stack, names)


def clear(kube: Kube) -> None:
    for one in kube.items("v1", "pods", SPACE):
        kube.delete("v1", "pods", SPACE, one["metadata"]["name"], gracePeriodSeconds=0)
    until("pods to go", lambda: not kube.items("v1", "pods", SPACE))


def proven(kube: Kube, stack: Stack, names: list[str]) -> None:
    """Apply what `render` prints to prove the fabric and to accept a machine: each pod finds its machine and rails."""
    for arguments, expected in ((["--nccl-test"], names), (["--accept", names[1]], names[1:])):
        printed = subprocess.run(
            [sys.executable, "-m", "gpu_platform", "render", str(stack.file), *arguments],
            cwd=PROJECT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        found = [one for one in yaml.safe_load_all(printed) if one]
        plurals = {"ConfigMap": "configmaps", "Service": "services", "Job": "jobs"}
        try:
            for one in found:
                path = kube.path(one["apiVersion"], plurals[one["kind"]], SPACE)
                kube.request("POST", path, one, fieldValidation="Strict")
            until(f"pods of {arguments[0]}", lambda: placed(kube) == expected)  # noqa: B023
        finally:
            for one in found:
                kube.delete(one["apiVersion"], plurals[one["kind"]], SPACE, one["metadata"]["name"])
            clear(kube)


def placed(kube: Kube) -> list[str]:
    """Return the machines of all pods, in order."""
    found = kube.items("v1", "pods", SPACE)
    assert not [
        note for one in found for note in one["metadata"].get("annotations") or () if "attachment-error" in note
    ]
    return sorted(str(one["spec"].get("nodeName", "")) for one in found)


def where(kube: Kube, name: str) -> str:
    return str(kube.get("v1", "pods", SPACE, name)["spec"].get("nodeName", ""))


def attached(kube: Kube, pods: list[str], pool: dict[str, Any]) -> None:
    """See that every pod got every network that it named, with an address of that rail that nobody else has."""
    wanted = [f"{SPACE}/{one}" for one in pool["networks"].split(",") if one]
    if not wanted:
        return
    ranges = {f"{SPACE}/{rail['network']}": ipaddress.ip_network(rail["subnet"]) for rail in pool["rails"]}
    seen = set()
    for name in pods:
        found = json.loads(until(f"networks of {name}", lambda: status(kube, name)))  # noqa: B023
        assert [one["name"] for one in found] == wanted
        for one in found:
            (address,) = one["ips"]
            assert ipaddress.ip_address(address) in ranges[one["name"]]
            seen.add(address)
    assert len(seen) == len(pods) * len(wanted)


def status(kube: Kube, name: str) -> str:
    notes = kube.get("v1", "pods", SPACE, name)["metadata"].get("annotations") or {}
    assert "sandbox.gpu-platform/attachment-error" not in notes, notes["sandbox.gpu-platform/attachment-error"]
    return str(notes.get("k8s.v1.cni.cncf.io/network-status", ""))
