"""Section `fabric`: the network between GPUs of different machines, and who is attached to it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from gpu_platform.settings.base import DnsLabel, Section
from gpu_platform.settings.cluster import Network

Mode = Literal["ib-shared", "ipoib-shared", "macvlan-shared", "host-device"]


class RailNetworks(Section):
    """Where the rails' addresses come from: rail n gets the n-th network of this size."""

    supernet: Network = Field(description="the range that all rails share (CIDR)")
    rail_prefix: Annotated[int, Field(ge=8, le=30)] = Field(description="prefix length of each rail's network")


class Fabric(Section):
    """How pods reach the fabric."""

    mode: Mode | None = Field(None, description="default: ib-shared for InfiniBand, host-device for Ethernet (RoCE)")
    name: DnsLabel = Field("ib-rdma", description="name of the networks; with several rails NAME-rail-<n>")
    rails: RailNetworks | None = Field(None, description="addresses of the rails; needed where a mode gives pods any")
    addresses: Literal["dynamic", "static"] = Field(
        "dynamic", description="dynamic: blocks of addresses as nodes come; static: each node by its slot"
    )
    block_size: Annotated[int, Field(ge=1, le=256)] = Field(
        4, description="addresses of each node on each rail, which is how many pods can be attached there at once"
    )
    mtu: Annotated[int, Field(ge=1280, le=65535)] | None = Field(None, description="MTU of pods' interfaces")
    shares: Annotated[int, Field(ge=1, le=1000)] = Field(
        63, description="in shared modes: how many pods of a node may use the same cards"
    )
    attach_in: Annotated[tuple[DnsLabel, ...], Field(min_length=1)] = Field(
        ("training",), description="namespaces whose pods are attached"
    )
    create_namespaces: bool = Field(
        False, description="make these namespaces, with the Pod Security level that RDMA needs"
    )

    @model_validator(mode="after")
    def _once(self) -> Fabric:
        if twice := [one for one in self.attach_in if self.attach_in.count(one) > 1]:
            raise ValueError(f"namespace {twice[0]} stands twice in attachIn: keep one")
        return self
