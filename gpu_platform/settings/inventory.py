"""Section `inventory`: pools of equal nodes, the single source of truth for hardware."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gpu_platform.settings.base import DnsLabel, LabelValue, NodeName, Section, Text, Version
from gpu_platform.settings.image import PoolImage


def _address(value: str) -> str:
    try:
        return str(ipaddress.ip_address(value))
    except ValueError:
        raise ValueError(f"{value!r} is no IP address: write one such as 10.20.0.11") from None


def _names_to_mapping(value: Any) -> Any:
    """Take a plain list of names for a mapping of names to defaults; repeated names are kept visible as an error."""
    if not isinstance(value, list):
        return (
            {name: node if node is not None else {} for name, node in value.items()}
            if isinstance(value, dict)
            else value
        )
    names = [name for name in value if isinstance(name, str)]
    if len(names) != len(value):
        raise ValueError("a list of nodes holds names only: write a mapping of names to give a node a rack or a state")
    if repeated := sorted(name for name, count in Counter(names).items() if count > 1):
        raise ValueError(f"node {', '.join(repeated)} stands twice in this list: keep one")
    return {name: {} for name in names}


class MigChoice(Section):
    """Which layout cards are cut by."""

    layout: DnsLabel | None = Field(description="a layout of gpu.mig.layouts; null leaves the cards whole")


class SharingChoice(Section):
    """How cards are shared."""

    config: DnsLabel | None = Field(description="a way of gpu.sharing; null hands each card out once")


class Partition(Section):
    """How AMD cards are partitioned: compute dies into devices, memory into NUMA domains."""

    compute: Literal["SPX", "DPX", "CPX"] = Field("SPX", description="SPX leaves a card whole")
    memory: Literal["NPS1", "NPS2", "NPS4"] = Field("NPS1", description="NPS1 leaves the memory whole")


def _allocator(value: Any) -> Any:
    if isinstance(value, list | dict) or value == "both":
        raise ValueError("two allocators would hand out the same card twice: choose devicePlugin or dra")
    return value


_PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]")


def _pci(value: str) -> str:
    if _PCI.fullmatch(value):
        return value
    raise ValueError(f"{value!r} is no PCI address: write domain:bus:device.function in lower case: 0000:1a:00.0")


PciAddress = Annotated[str, AfterValidator(_pci)]


class Rail(Section):
    """One port on the fabric."""

    pci: PciAddress = Field(description="PCI address of the port's physical function")
    hca: Text | None = Field(None, description="RDMA device, such as mlx5_0; NCCL is told of it")
    interface: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,14}$")] | None = Field(
        None, description="network interface, where it is not called after the PCI address"
    )


_ANY_PORT = (
    "by vendor, model or driver alone, ports for storage and management are chosen, too: "
    "write profile, or rails with their PCI addresses"
)


class Nics(Section):
    """The network cards of every node in a pool."""

    astray: ClassVar[dict[str, str]] = dict.fromkeys(
        ("vendor", "vendors", "deviceID", "deviceIDs", "drivers"), _ANY_PORT
    )

    profile: Text | None = Field(None, description="a server model of facts/nics.toml, such as xe9680-8rail-cx7")
    fabric: Literal["infiniband", "ethernet"] = Field("infiniband", description="what the cards speak")
    device: Annotated[str, Field(pattern=r"^[0-9a-f]{4}$")] | None = Field(
        None, description="PCI device ID of the cards, such as 1021 for ConnectX-7; with rails of one's own"
    )
    rails: tuple[Rail, ...] = Field((), description="rails of one's own, in their order, where no profile fits")
    north_south: tuple[PciAddress, ...] = Field((), description="ports that are not on the fabric, never selected")

    @model_validator(mode="after")
    def _one(self) -> Nics:
        if (self.profile is None) == (not self.rails):
            raise ValueError("which rails do these nodes have: write profile, or rails")
        if self.rails and not self.device:
            raise ValueError("rails of one's own need the cards' PCI device ID: write device")
        return self


class Node(Section):
    """One machine: where it stands and what may be expected of it."""

    rack: LabelValue | None = Field(None, description="rack, for power budgets and topology")
    leaf: LabelValue | None = Field(None, description="leaf switch of its rails, for topology")
    bmc: Annotated[str, AfterValidator(_address)] | None = Field(
        None, description="address of its management controller"
    )
    state: Literal["planned", "accepting", "active", "quarantined", "retired"] = Field(
        "active", description="decides image, quota, alerts and patches together"
    )
    reason: Text | None = Field(None, description="why it is in this state; needed when quarantined")
    talos_version: Version | None = Field(None, description="its Talos release while a rollout is under way")
    mig: MigChoice | None = Field(None, description="how its cards are cut, when not as its pool's")
    slot: Annotated[int, Field(ge=0, le=65535)] | None = Field(
        None, description="its place in every rail's network, with fabric.addresses: static; nobody else's, ever"
    )
    sharing: SharingChoice | None = Field(None, description="how its cards are shared, when not as its pool's")
    partition: Partition | None = Field(None, description="how its AMD cards are partitioned, when not as its pool's")


class Gpu(Section):
    """The accelerators of every node in a pool."""

    model: Text = Field(description="a model of facts/gpus.toml, such as h100-sxm-80gb")
    per_node: Annotated[int, Field(ge=1, le=16)] | None = Field(None, description="cards a node; default by model")


class Taint(Section):
    """A taint that the kubelet registers with."""

    key: Text
    value: LabelValue = ""
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] = "NoSchedule"


class Pool(Section):
    """Nodes of equal hardware that get one image class."""

    os: Literal["talos", "other"] = Field("talos", description="operating system of the nodes")
    talos_version: Version | None = Field(None, description="Talos release of this pool, default cluster.talosVersion")
    architecture: Literal["amd64", "arm64"] | None = Field(None, description="CPU architecture, default by GPU model")
    gpu: Gpu | None = Field(None, description="its accelerators; a pool without is plain")
    nics: Nics | None = Field(None, description="its network cards on the fabric")
    allocation: Annotated[
        Literal["devicePlugin", "dra"],
        BeforeValidator(_allocator, json_schema_input_type=Literal["devicePlugin", "dra"]),
    ] = Field("devicePlugin", description="who hands the cards out: extended resources, or claims (DRA)")
    mig: MigChoice | None = Field(None, description="how the cards of its nodes are cut")
    sharing: SharingChoice | None = Field(None, description="how the cards of its nodes are shared")
    partition: Partition | None = Field(None, description="how its AMD cards are partitioned")
    image: PoolImage = Field(default_factory=PoolImage, description="differences of its image")
    labels: dict[str, LabelValue] = Field(default_factory=dict, description="further static node labels")
    taints: tuple[Taint, ...] = Field((), description="taints; operators' tolerations follow from them")
    nodes: Annotated[
        dict[NodeName, Node],
        BeforeValidator(_names_to_mapping, json_schema_input_type=dict[NodeName, Node | None] | list[NodeName]),
    ] = Field(description="node names, as a list or as a mapping to rack, leaf, bmc, state")

    @model_validator(mode="after")
    def _versions(self) -> Pool:
        if self.os == "other" and self.talos_version:
            raise ValueError("a pool with os: other has no talosVersion: remove one of the two")
        return self


class Rack(Section):
    """A rack and what it may draw."""

    power_budget_watts: Annotated[int, Field(ge=1)] | None = Field(None, description="electrical budget in watts")


class Inventory(Section):
    """All pools and racks of this environment."""

    pools: Annotated[dict[DnsLabel, Pool], Field(min_length=1)] = Field(description="pools by name")
    racks: dict[LabelValue, Rack] = Field(default_factory=dict, description="racks by name")
