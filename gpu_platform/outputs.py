"""The outputs contract: what other stacks may rely on, typed and versioned."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

if TYPE_CHECKING:
    import pulumi

    from gpu_platform.planning.model import FabricPlan, ImageClass, Plan

API_VERSION: Literal["gpu-platform/v1"] = "gpu-platform/v1"


class ContractError(ValueError):
    """One sentence: why a stack's outputs are not those of this contract."""


class Contract(BaseModel):
    """A part of the contract: camelCase on the wire; later versions may add keys, so unknown ones are ignored.

    Whatever may be null has a default: stack references drop keys whose value is null.
    """

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")


class ClusterOutput(Contract):
    """The cluster of this stack."""

    name: str
    phase: Literal["image", "full"]
    talos_version: str
    kubernetes_version: str | None = None


class ExtensionOutput(Contract):
    """A system extension in an image; version and image are null where the facts do not know them."""

    name: str
    version: str | None = None
    ref: str | None = None


class DriverOutput(Contract):
    """The NVIDIA driver of an image."""

    branch: str
    version: str | None = None
    kernel_modules: Literal["open", "proprietary"]


class ImageClassOutput(Contract):
    """One image: what to install and boot from, and the patch that must go with it."""

    pool: str
    talos_version: str
    architecture: Literal["amd64", "arm64"]
    schematic_id: str = Field(pattern="^[0-9a-f]{64}$")
    schematic: str
    installer: str
    installer_secure_boot: str
    iso: str
    disk: str
    pxe: str
    kernel: str
    initramfs: str
    cmdline: str = ""
    uki: str = ""
    secure_boot: bool = False
    extensions: list[ExtensionOutput]
    kernel_args: list[str]
    driver: DriverOutput | None = None
    machine_config_patch: str
    machine_config_form: Literal["legacy", "documents"] = "legacy"


class NodeOutput(Contract):
    """One machine of the inventory; image_class is null where nothing is to be booted.

    What it hands out: `resources` by extended resource, `devices` for claims by DeviceClass.
    """

    pool: str
    state: Literal["planned", "accepting", "active", "quarantined", "retired"]
    image_class: str | None = None
    installer: str | None = None
    gpu_model: str | None = None
    gpu_count: int
    labels: dict[str, str]
    mig_layout: str | None = None
    mig_config: str | None = None
    allocation: Literal["devicePlugin", "dra"] = "devicePlugin"
    sharing: str | None = None
    partition: str | None = None
    resources: dict[str, int] = Field(default_factory=dict)
    devices: dict[str, int] = Field(default_factory=dict)


class MigLayoutOutput(Contract):
    """A layout of cards: the configuration name that nodes ask for, profiles by GPU numbers (all for every GPU)."""

    config: str
    gpus: dict[str, list[str]]


class MigOutput(Contract):
    """How cards are cut: what slices are called, and the library."""

    strategy: Literal["mixed", "single"]
    layouts: dict[str, MigLayoutOutput]


class MetricsOutput(Contract):
    """What the exporters publish: names of DCGM counters; labels of workloads keep their names (honorLabels)."""

    dcgm: list[str] = Field(default_factory=list)
    honor_labels: bool = True
    node_label: str = "node"


class RailOutput(Contract):
    """One rail of a pool: its port, and what a pod asks for and gets there."""

    index: int
    pci: str
    hca: str | None = None
    interface: str
    network: str | None = None
    resource: str | None = None
    subnet: str | None = None


class FabricPoolOutput(Contract):
    """What a pod on a pool says to use all rails with all cards of a node; `patch` is all of it, for any container."""

    fabric: Literal["infiniband", "ethernet"]
    rails: list[RailOutput]
    networks: str
    limits: dict[str, str]
    node_selector: dict[str, str]
    environment: dict[str, str]
    claim_template: str | None = None
    patch: dict[str, Any]


class FabricOutput(Contract):
    """The fabric: its mode, who is attached, and what Cilium must be told."""

    mode: str
    policy: str | None = None
    device_class: str | None = None
    namespaces: list[str]
    capacity: int | None = None
    needs: dict[str, str] = Field(default_factory=dict)
    pools: dict[str, FabricPoolOutput]
    covered_resources: list[str]
    cilium_values: dict[str, Any]


class OperatorOutput(Contract):
    """One operator: what a release of somebody else's must carry, and what the cluster needs besides."""

    manage: Literal["install", "existing"]
    version: str
    namespace: str
    required_values: dict[str, Any]
    needs: dict[str, str] = Field(default_factory=dict)


class PlatformOutputs(Contract):
    """Everything that this stack exports."""

    api_version: Literal["gpu-platform/v1"]
    cluster: ClusterOutput
    image_classes: dict[str, ImageClassOutput]
    nodes: dict[str, NodeOutput]
    operators: dict[str, OperatorOutput]
    metrics: MetricsOutput = Field(default_factory=MetricsOutput)
    fabric: FabricOutput | None = None
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


def export(
    outputs: PlatformOutputs, *, after: list[pulumi.Output[Any]], installer_digests: pulumi.Output[dict[str, str]]
) -> None:
    """Export every key of the contract once `after` is there: nobody reads what an `up` that failed did not make.

    `installer_digests`, by image class, is known only when the factory has built them.
    """
    import pulumi

    there = pulumi.Output.all(*after)
    for key, value in outputs.model_dump(by_alias=True, mode="json", exclude={"installer_digests"}).items():
        # The value stays out of Output.all, which would make an Output of each of a thousand nodes' labels.
        pulumi.export(key, there.apply(partial(_first, value)))
    pulumi.export("installerDigests", pulumi.Output.all(installer_digests, *after).apply(lambda values: values[0]))


def _first(value: Any, _after: Any) -> Any:
    return value


class PlatformReference:
    """Another stack's view of this one: `PlatformReference("organization/gpu-platform/prod").outputs`."""

    def __init__(self, stack: str) -> None:
        import pulumi

        keys = [info.alias or name for name, info in PlatformOutputs.model_fields.items()]
        reference = pulumi.StackReference(stack)
        found = pulumi.Output.all(**{key: reference.get_output(key) for key in keys})
        self.outputs: pulumi.Output[PlatformOutputs] = found.apply(self._parse)
        self._stack = stack

    def _parse(self, exported: dict[str, Any]) -> PlatformOutputs:
        import pulumi

        try:
            return parse(exported)
        except ContractError as error:
            raise pulumi.RunError(f"stack {self._stack}: {error}") from None


def parse(exported: dict[str, Any]) -> PlatformOutputs:
    """Return outputs as another stack or `pulumi stack output --json` has them; whole floats become ints again.

    Raises ContractError when they are of another contract.
    """
    version = exported.get("apiVersion")
    if version != API_VERSION:
        raise ContractError(f"it exports {version or 'no apiVersion'}, this reader knows {API_VERSION}")
    try:
        return PlatformOutputs.model_validate(exported)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ContractError(
            f"its output {where} is not of {API_VERSION} ({first['msg']}): run pulumi up there"
        ) from None
