"""Jobs that `render --job` prints: in a queue, packed, with all cards and rails of their nodes."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from gpu_platform.planning.training.templates import KINDS, TemplateError, template
from gpu_platform.settings.document import load
from tests.sandbox.charts import SCHEMAS, needs_published
from tests.sandbox.closed_schema import troubles
from tests.stack_files import FIXTURES, document, good, pool

DEFINITIONS = {
    "JobSet": "jobset-v0.12.0/jobset.x-k8s.io_jobsets.yaml",
    "TrainJob": "kubeflow-trainer-v2.3.0/trainer.kubeflow.org_trainjobs.yaml",
}
RAILS = good(load(FIXTURES / "valid" / "queue-beside-rails.yaml").keys)
LENT = good(load(FIXTURES / "valid" / "queues-and-cards-that-models-lend.yaml").keys)
TEAMS = good(load(FIXTURES / "valid" / "queues-of-teams.yaml").keys)


def pod(found: dict[str, Any]) -> dict[str, Any]:
    """Return the pod template of the nodes, wherever the kind has it."""
    spec = found["spec"]
    ways = {
        "Job": lambda: spec["template"],
        "JobSet": lambda: spec["replicatedJobs"][0]["template"]["spec"]["template"],
        "MPIJob": lambda: spec["mpiReplicaSpecs"]["Worker"]["template"],
        "TrainJob": lambda: spec["runtimePatches"][0]["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0][
            "template"
        ]["spec"]["template"],
    }
    return dict(ways[found["kind"]]())


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_is_in_the_queue_with_all_rails_of_its_nodes(kind: str) -> None:
    found = template(RAILS, kind, "research", nodes=4)
    assert found["metadata"]["labels"] == {
        "kueue.x-k8s.io/queue-name": "research",
        "kueue.x-k8s.io/priority-class": "normal",
    }
    assert found["metadata"]["namespace"] == "team-research"
    inner = pod(found)["spec"]
    assert inner["nodeSelector"] == {"gpu-platform/pool": "train"}
    given = found["spec"]["trainer"]["resourcesPerNode"] if kind == "TrainJob" else inner["containers"][0]["resources"]
    assert given["limits"]["nvidia.com/gpu"] == "8"
    assert given["limits"]["rdma/ib_rdma"] == "1"
    assert inner["containers"][0]["securityContext"] == {"capabilities": {"add": ["IPC_LOCK"]}}


@needs_published
@pytest.mark.parametrize("kind", list(DEFINITIONS))
@pytest.mark.parametrize("plan", [RAILS, TEAMS], ids=["rails", "teams"])
def test_kinds_are_what_their_published_definitions_allow(kind: str, plan: Any) -> None:
    text = (SCHEMAS / "crds" / DEFINITIONS[kind]).read_text(encoding="utf-8")
    assert troubles(yaml.safe_load(text), template(plan, kind, "research", nodes=1)) == []


def test_a_job_is_as_large_as_a_leaf_and_packed_by_it() -> None:
    found = template(TEAMS, "Job", "research")
    assert found["spec"]["parallelism"] == found["spec"]["completions"] == 2
    packed = template(LENT, "Job", "research", nodes=2)
    assert pod(packed)["metadata"]["annotations"] == {"kueue.x-k8s.io/podset-preferred-topology": "gpu-platform/leaf"}


def test_a_scavenger_has_the_time_to_save_its_work_that_models_grant() -> None:
    found = template(LENT, "Job", "h100-scavenger")
    assert pod(found)["spec"]["terminationGracePeriodSeconds"] == 30
    assert found["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "scavenger"


def test_without_priorities_a_job_states_none() -> None:
    training = {"queues": {"research": {"pools": "h100", "namespaces": "team"}}, "priorities": {}}
    found = template(good(document(training=training)), "Job", "research")
    assert found["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "research"}


LEND = {"h100": {"floor": 8, "namespaces": "models", "scavengers": "scavengers"}}
NOBODY = good(
    document(
        inventory=pool(nodes={"n1": {"state": "planned"}}),
        training={"queues": {"research": {"pools": "h100", "namespaces": "team"}}, "lend": LEND},
    )
)
CLAIMS = good(load(FIXTURES / "valid" / "queue-of-claims.yaml").keys)
ELSEWHERE = good(
    document(
        cluster={"name": "lab", "talosVersion": "v1.13.9", "kubernetesVersion": "v1.35.6"},
        inventory=pool(
            nodes=["n1", "n2"],
            image={"kernelArgs": ["iommu=pt"]},
            nics={"profile": "xe9680-8rail-cx7", "fabric": "ethernet"},
        ),
        fabric={"rails": {"supernet": "192.168.0.0/16", "railPrefix": 22}, "attachIn": ["training"]},
        training={"queues": {"research": {"pools": "h100", "namespaces": "team"}}},
    )
)


@pytest.mark.parametrize(
    ("plan", "asked", "expected"),
    [
        (good(document()), ("Job", None), "this stack has no queue"),
        (RAILS, ("Jobset", None), "did you mean JobSet"),
        (LENT, ("Job", None), "write --queue with one of research, h100-scavenger"),
        (LENT, ("Job", "h100-inference"), "no queue h100-inference of jobs"),
        (LENT, ("Job", "research", "a100"), "has nothing of pool a100"),
        (LENT, ("Job", "research", None, 3), "3 nodes of 8 cards are more than queue research can have of h100: 2"),
        (CLAIMS, ("Job", "research"), "hands out no whole cards by count"),
        (ELSEWHERE, ("Job", "research"), "add it to fabric.attachIn"),
        (NOBODY, ("Job", "h100-scavenger"), "no node of pool h100 is active"),
    ],
)
def test_a_job_that_could_not_run_is_refused_with_a_sentence(plan: Any, asked: Any, expected: str) -> None:
    with pytest.raises(TemplateError, match=expected):
        template(plan, *asked)
