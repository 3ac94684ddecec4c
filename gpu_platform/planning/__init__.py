"""What follows from the settings: pure functions, one module per subject."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.findings import errors
from gpu_platform.planning import allocation, compatibility, counters, image, inventory, partitions
from gpu_platform.planning.cluster import cluster_findings, plan_cluster
from gpu_platform.planning.fabric import modes
from gpu_platform.planning.fabric import rules as fabric_rules
from gpu_platform.planning.fabric.outline import plan_fabric
from gpu_platform.planning.fabric.part import plan_part as fabric_part
from gpu_platform.planning.image.classes import plan_image
from gpu_platform.planning.mig import rules as mig_rules
from gpu_platform.planning.mig.objects import plan_mig
from gpu_platform.planning.model import Off, Part, Plan, Planned
from gpu_platform.planning.nodes import plan_nodes
from gpu_platform.planning.operators import rules as operator_rules
from gpu_platform.planning.operators.part import plan_operators, plan_part
from gpu_platform.planning.sharing import rules as sharing_rules
from gpu_platform.planning.training import metal as training
from gpu_platform.planning.training import rules as training_rules
from gpu_platform.planning.training.outline import plan_queues
from gpu_platform.planning.training.part import plan_part as training_part
from gpu_platform.settings.read import read

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings


def plan(document: Mapping[str, Any]) -> Planned:
    """Plan one environment from a document: section name to value, secrets as {"secure": ...}.

    Every rule runs whose sections could be read, so that all findings come at once. Never raises for bad input.
    """
    settings, findings = read(document)
    found = (*findings, *_rules(settings))
    ordered = tuple(sorted(found, key=lambda one: (one.severity, one.path, one.rule)))
    return Planned(None if errors(found) else _plan(settings), ordered)


def _rules(settings: Settings) -> tuple[Finding, ...]:
    return (
        *cluster_findings(settings),
        *inventory.findings(settings),
        *image.findings(settings),
        *operator_rules.findings(settings),
        *mig_rules.findings(settings),
        *sharing_rules.findings(settings),
        *partitions.findings(settings),
        *allocation.findings(settings),
        *fabric_rules.findings(settings),
        *training_rules.findings(settings),
        *counters.findings(settings),
        *compatibility.findings(settings),
    )


def _plan(settings: Settings) -> Plan:
    cluster = plan_cluster(settings)
    nodes = plan_nodes(settings)
    has_cluster = cluster.phase == "full"
    part = plan_part(settings) if has_cluster else Part()
    return Plan(
        cluster=cluster,
        nodes=nodes,
        image=plan_image(settings),
        gpu_operator=part,
        rdma_fabric=fabric_part(settings) if has_cluster else Part(),
        training_queue=training_part(settings) if has_cluster else Part(),
        fabric=plan_fabric(settings),
        queues=plan_queues(settings),
        mig=plan_mig(settings),
        counters=counters.published(settings) if has_cluster and inventory.nvidia_pools(settings) else (),
        operators=plan_operators(settings) if has_cluster else (),
        off=tuple(_off(settings)),
    )


def _off(settings: Settings) -> Iterator[Off]:
    if settings.cluster and settings.cluster.phase == "image":
        reason = "off, because cluster.phase is image: only images and patches are made"
        yield Off("gpuOperator", reason)
        yield Off("rdmaFabric", reason)
        yield Off("trainingQueue", reason)
        return
    if not inventory.accelerated(settings):
        yield Off("gpuOperator", "off, because no pool has accelerators")
    if not modes.present(settings):
        yield Off("rdmaFabric", "off, because no pool says nics: training across nodes would use the pod network")
    if not training.present(settings):
        yield Off("trainingQueue", "off, because section training names no queue: who comes first gets the cards")
