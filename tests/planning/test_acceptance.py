"""Jobs that prove a fabric or accept a machine: for whom there are any, what they ask for, and names that are valid."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from gpu_platform import facts
from gpu_platform.planning.acceptance import AcceptanceError, accept, nccl_test, objects, thresholds
from tests.stack_files import document, good, pool

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan

NICS = {"profile": "xe9680-8rail-cx7"}
RAILS = {"supernet": "192.168.0.0/16", "railPrefix": 22}
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
TWO = {"n1": {}, "n2": {}, "n3": {"state": "accepting"}, "n4": {"state": "quarantined", "reason": "memory"}}


def planned(nodes: Any = TWO, fabric: Any = None, sections: Any = None, **keys: Any) -> Plan:
    inventory = pool(nodes=nodes, nics={**NICS, "fabric": "infiniband"}, **keys)
    return good(document(inventory=inventory, fabric=fabric or {"attachIn": ["training"]}, **(sections or {})))


def by_kind(bodies: tuple[dict[str, Any], ...]) -> dict[str, dict[str, Any]]:
    return {one["kind"]: one for one in bodies}


def container(job: dict[str, Any]) -> dict[str, Any]:
    (found,) = job["spec"]["template"]["spec"]["containers"]
    return dict(found)


def refused(plan: Plan, name: str) -> str:
    with pytest.raises(AcceptanceError) as caught:
        accept(plan, name)
    return str(caught.value)


def test_the_job_runs_the_pools_own_patch_on_its_active_nodes() -> None:
    plan = planned(taints=[{"key": "dedicated", "value": "train"}])
    found = by_kind(nccl_test(plan))
    job, template = found["Job"], found["Job"]["spec"]["template"]
    assert (job["spec"]["completions"], job["spec"]["parallelism"], job["spec"]["backoffLimit"]) == (2, 2, 0)
    assert plan.fabric is not None
    patch = plan.fabric.pools[0].patch
    assert container(job)["resources"] == patch["spec"]["containers"][0]["resources"]
    assert container(job)["env"][:2] == patch["spec"]["containers"][0]["env"]
    assert container(job)["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}
    assert template["spec"]["nodeSelector"] == {"gpu-platform/pool": "h100"}
    assert template["spec"]["affinity"] == objects.pinned("n1", "n2")
    assert template["spec"]["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "dedicated", "operator": "Equal", "value": "train", "effect": "NoSchedule"},
    ]
    command = container(job)["command"]
    assert command[:3] == ["torchrun", "--nnodes=2", "--nproc-per-node=8"]
    assert command[3:5] == ["--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=nccl-test-h100-0.nccl-test-h100"]
    assert command[7:10] == ["--at-least=320.0", "--rails=8", "--hca=mlx5_0"]
    assert "80% of the line rate, 8 x 400 Gb/s" in job["metadata"]["annotations"]["gpu-platform/threshold"]
    # The patch itself is an output and stays as it is.
    assert patch["spec"]["containers"][0]["name"] == "*"


def test_pods_find_each_other_by_the_service() -> None:
    found = by_kind(nccl_test(planned()))
    service, template = found["Service"]["spec"], found["Job"]["spec"]["template"]["spec"]
    assert service["clusterIP"] == "None"
    assert service["publishNotReadyAddresses"] is True
    assert service["selector"] == {"batch.kubernetes.io/job-name": found["Job"]["metadata"]["name"]}
    assert template["subdomain"] == found["Service"]["metadata"]["name"]


def test_networks_of_the_rails_come_with_the_patch() -> None:
    inventory = pool(nodes=["n1", "n2"], nics={**NICS, "fabric": "ethernet"})
    keys = document(inventory=inventory, fabric={"rails": RAILS})
    keys["cluster"]["kubernetesVersion"] = "v1.35.6"
    template = by_kind(nccl_test(good(keys)))["Job"]["spec"]["template"]
    assert template["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"].startswith("ib-rdma-rail-0,")
    assert template["metadata"]["labels"]


def test_rails_without_known_devices_are_counted_only() -> None:
    rails = [{"pci": "0000:1a:00.0", "hca": "mlx5_0"}, {"pci": "0000:3c:00.0"}]
    plan = good(document(inventory=pool(nodes=["n1", "n2"], nics={"rails": rails, "device": "1021"}), fabric={}))
    assert container(by_kind(nccl_test(plan))["Job"])["command"][7:] == ["--at-least=80.0", "--rails=2"]


@pytest.mark.parametrize(("count", "said"), [(1, "write 2 to 2"), (3, "write 2 to 2"), (-1, "write 2 to 2")])
def test_how_many_nodes_is_bounded(count: int, said: str) -> None:
    with pytest.raises(AcceptanceError, match=said):
        nccl_test(planned(), "h100", count)


def test_a_pool_that_cannot_be_measured_is_a_sentence() -> None:
    one = {"gpu": {"model": "h100-sxm-80gb"}, "nics": NICS, "nodes": ["a1", "a2"]}
    two = {**one, "nodes": ["b1", "b2"], "allocation": "dra"}
    plain = {"nodes": ["c1"]}
    keys = document(inventory={"pools": {"one": one, "two": two, "plain": plain}}, fabric={})
    keys["cluster"]["kubernetesVersion"] = "v1.35.6"
    plan = good(keys)
    said = {
        None: "several pools are on the fabric: write --pool with one of one, two",
        "plain": "pool plain is not on the fabric: write --pool with one of one, two",
        "onne": "there is no pool onne in this stack: did you mean one?",
        "two": "the cards of node b1 are given by claims (allocation: dra): this job asks for nvidia.com/gpu",
    }
    for name, sentence in said.items():
        with pytest.raises(AcceptanceError) as caught:
            nccl_test(plan, name)
        assert str(caught.value) == sentence
    with pytest.raises(AcceptanceError, match="no pool of this stack is on the fabric"):
        nccl_test(good(document()))
    with pytest.raises(AcceptanceError, match="pool h100 has 1 active nodes"):
        nccl_test(planned({"n1": {}, "n2": {"state": "accepting"}}))


def test_nodes_that_hand_out_pieces_are_left_out() -> None:
    section = {"gpu": {"mig": {"layouts": {"cut": ["7g.80gb"]}}}}
    nodes = {"n1": {}, "n2": {}, "n3": {"mig": {"layout": "cut"}}}
    job = by_kind(nccl_test(planned(nodes, sections=section)))["Job"]
    assert job["spec"]["completions"] == 2
    assert job["spec"]["template"]["spec"]["affinity"] == objects.pinned("n1", "n2")


def test_a_machine_is_accepted_wherever_it_is_pinned() -> None:
    found = by_kind(accept(planned(), "n3"))
    spec = found["Job"]["spec"]["template"]["spec"]
    assert set(found["ConfigMap"]["data"]) == {"accept.py", "all_reduce.py"}
    assert "nodeSelector" not in spec
    assert spec["affinity"] == objects.pinned("n3")
    assert spec["tolerations"] == [{"operator": "Exists"}]
    command = container(found["Job"])["command"]
    assert command[1:5] == ["/opt/gpu-platform/accept.py", "--gpus=8", "--at-least=460.0", "--rails=8"]
    assert len([one for one in command if one.startswith("--hca=")]) == 8
    assert found["Job"]["metadata"]["namespace"] == "training"


def test_a_machine_without_a_fabric_is_accepted_without_rails() -> None:
    job = by_kind(accept(good(document()), "gpu-01"))["Job"]
    assert container(job)["resources"] == {"limits": {"nvidia.com/gpu": "8"}}
    assert container(job)["command"][2:] == ["--gpus=8", "--at-least=460.0"]
    assert "securityContext" not in container(job)
    assert job["metadata"]["namespace"] == "default"


def test_a_machine_that_no_job_can_accept_is_a_sentence() -> None:
    pools = {
        "plain": {"nodes": ["store"]},
        "amd": {"os": "other", "gpu": {"model": "mi300x-192gb"}, "nodes": ["amd-01"]},
        "volta": {"gpu": {"model": "v100-sxm-32gb"}, "image": {"driverTrack": "lts"}, "nodes": ["old-01"]},
        "shared": {"gpu": {"model": "l40s-48gb"}, "sharing": {"config": "two"}, "nodes": ["l40s-01"]},
        "new": {"gpu": {"model": "l40s-48gb"}, "nodes": {"l40s-02": {"state": "planned"}}},
    }
    section = {"sharing": {"two": {"mode": "timeSlicing", "replicas": 2}}}
    plan = good(document(inventory={"pools": pools}, gpu=section))
    assert refused(plan, "l40s-03").startswith("there is no node l40s-03 in this stack: did you mean l40s-0")
    assert refused(plan, "store") == "node store has no GPUs: there is nothing to measure"
    assert "speaks to NVIDIA cards only" in refused(plan, "amd-01")
    assert "no longer knows it" in refused(plan, "old-01")
    assert "are shared: this job needs them whole" in refused(plan, "l40s-01")
    assert "l40s-02 is planned" in refused(plan, "l40s-02")
    cut = good(document(inventory=pool(mig={"layout": "cut"}), gpu={"mig": {"layouts": {"cut": ["7g.80gb"]}}}))
    assert "are cut: this job needs them whole" in refused(cut, "gpu-01")


def test_thresholds_are_published_ones_or_none() -> None:
    assert thresholds.inside("h100-sxm-80gb", 8).at_least == 460.0
    assert thresholds.inside("h100-sxm-80gb", 4).at_least is None
    assert thresholds.inside("b200-sxm-180gb", 8).at_least is None
    assert thresholds.between("h100-sxm-80gb", 8, "1021", 8).at_least == 320.0
    assert thresholds.between("a100-sxm-80gb", 8, "101b", 8).at_least == 144.0
    # More rails than NVLink carries: what one machine reaches inside is the measure.
    assert thresholds.between("a100-sxm-80gb", 8, "1021", 8).at_least == 228.0
    # Nothing is published inside, yet its switches carry more than its rails.
    assert thresholds.between("b200-sxm-180gb", 8, "1021", 8).at_least == 320.0
    assert thresholds.between("l40s-48gb", 8, "1021", 8).at_least is None
    assert thresholds.between("h100-sxm-80gb", 4, "1021", 4).at_least is None
    assert "device 1023" in thresholds.between("h100-sxm-80gb", 8, "1023", 8).reason
    for row in (*facts.table("nccl")["model"].values(), *facts.table("nccl")["device"].values()):
        assert row["source"]
        assert row["date"]
    assert set(facts.table("nccl")["model"]) <= set(facts.table("gpus"))


@pytest.mark.parametrize("name", ["n", "gpu-01.rack.example", "x" * 63, "a." * 120 + "b", "y" * 40 + "-" + "z" * 20])
def test_names_are_valid_whatever_nodes_and_pools_are_called(name: str) -> None:
    plan = planned({name: {}, "n2": {}})
    for bodies in (accept(plan, name), nccl_test(plan)):
        for body in bodies:
            assert LABEL.fullmatch(f"{body['metadata']['name']}-99999")
            assert body["metadata"]["namespace"] == "training"
            for value in body["metadata"]["labels"].values():
                assert LABEL.fullmatch(value)
    assert objects.name("accept", "n.1") != objects.name("accept", "n-1")
