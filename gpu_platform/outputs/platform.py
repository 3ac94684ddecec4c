"""The contract as a whole, made of a plan."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from gpu_platform import facts
from gpu_platform.outputs import training
from gpu_platform.outputs.base import API_VERSION, Contract
from gpu_platform.outputs.fabric import FabricOutput
from gpu_platform.outputs.machines import (
    ClusterOutput,
    ImageClassOutput,
    MetricsOutput,
    MigOutput,
    NodeOutput,
    OperatorOutput,
)
from gpu_platform.outputs.training import TrainingOutput

if TYPE_CHECKING:
    from gpu_platform.planning.model import FabricPlan, ImageClass, Plan


class PlatformOutputs(Contract):
    """Everything that this stack exports."""

    api_version: Literal["gpu-platform/v1"]
    cluster: ClusterOutput
    image_classes: dict[str, ImageClassOutput]
    nodes: dict[str, NodeOutput]
    operators: dict[str, OperatorOutput]
    metrics: MetricsOutput = Field(default_factory=MetricsOutput)
    fabric: FabricOutput | None = None
    training: TrainingOutput | None = None
    mig: MigOutput = Field(default_factory=lambda: MigOutput(strategy="mixed", layouts={}))
    installer_digests: dict[str, str] = Field(default_factory=dict)


def outputs_of(plan: Plan) -> PlatformOutputs:
    """Return the outputs of a plan; every value is known while planning."""
    installers = {one.name: one.boot.installer for one in plan.image.classes}
    node_keys, operator_keys = set(NodeOutput.model_fields) - {"installer"}, set(OperatorOutput.model_fields)
    return PlatformOutputs.model_validate(
        {
            "api_version": API_VERSION,
            "cluster": {key: getattr(plan.cluster, key) for key in ClusterOutput.model_fields},
            "image_classes": {one.name: _image_class(one) for one in plan.image.classes},
            "nodes": {
                node.name: {key: getattr(node, key) for key in node_keys}
                | {"installer": installers.get(node.image_class or "")}
                for node in plan.nodes
            },
            "mig": {
                "strategy": plan.mig.strategy,
                "layouts": {one.name: {"config": one.config, "gpus": dict(one.groups)} for one in plan.mig.layouts},
            },
            "metrics": {"dcgm": plan.counters},
            "fabric": _fabric(plan.fabric) if plan.fabric else None,
            "training": training.values(plan.queues.to_json(), facts.table("kueue")["labels"]) if plan.queues else None,
            "operators": {one.name: {key: getattr(one, key) for key in operator_keys} for one in plan.operators},
        }
    )


def _fabric(fabric: FabricPlan) -> dict[str, Any]:
    return {
        **{key: getattr(fabric, key) for key in set(FabricOutput.model_fields) - {"pools", "covered_resources"}},
        "pools": {one.name: asdict(one) for one in fabric.pools},
        "covered_resources": sorted({rail.resource for one in fabric.pools for rail in one.rails if rail.resource}),
    }


def _image_class(one: ImageClass) -> dict[str, Any]:
    driver = {"branch": one.driver_branch, "version": one.driver_version, "kernel_modules": one.kernel_modules}
    values = asdict(one) | {"driver": driver if one.driver_branch else None, "machine_config_patch": one.patch}
    values["machine_config_form"] = "documents" if one.documents else "legacy"
    return values | asdict(one.boot)
