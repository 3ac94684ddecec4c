"""Section `fabric`: the network between GPUs of different machines, and who is attached to it."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gpu_platform.settings.base import DnsLabel, Section, Text
from gpu_platform.settings.cluster import Network

Mode = Literal["ib-shared", "ipoib-shared", "macvlan-shared", "host-device", "sriov-static", "sriov", "dra"]

_GUID = re.compile(r"([0-9A-F]{2}:){7}[0-9A-F]{2}")


def _guid(value: str) -> str:
    if _GUID.fullmatch(value.upper()):
        return value.upper()
    raise ValueError(f"{value!r} is no GUID: write eight bytes such as 02:00:00:00:00:00:00:00")


def _pkey(value: Any) -> Any:
    """YAML reads 0x8006 as a number, and people quote it, too."""
    if isinstance(value, str) and re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}", value):
        return int(value, 16)
    return value


Guid = Annotated[str, AfterValidator(_guid)]


class RailNetworks(Section):
    """Where the rails' addresses come from: rail n gets the n-th network of this size."""

    supernet: Network = Field(description="the range that all rails share (CIDR)")
    rail_prefix: Annotated[int, Field(ge=8, le=30)] = Field(description="prefix length of each rail's network")


class Ufm(Section):
    """The fabric's manager, which gives virtual functions of InfiniBand their GUIDs and partitions."""

    secret: DnsLabel = Field(
        description="an existing Secret in the operator's namespace: UFM_ADDRESS, UFM_USERNAME, UFM_PASSWORD and so on"
    )
    guid_start: Guid = Field(description="first GUID of this cluster's pool, such as 02:00:00:00:00:00:00:00")
    guid_end: Guid = Field(description="last GUID of this cluster's pool; no other cluster's may overlap it")

    @model_validator(mode="after")
    def _order(self) -> Ufm:
        if self.guid_start >= self.guid_end:
            raise ValueError(f"guidStart {self.guid_start} does not come before guidEnd {self.guid_end}: swap them")
        return self


class Fabric(Section):
    """How pods reach the fabric."""

    astray: ClassVar[dict[str, str]] = {
        "ofedDriver": "on Talos no container may load kernel modules, and those of the kernel serve: leave it out",
        "useCdi": "it writes to /etc/pcidp, which is read-only on Talos: leave it out",
        "numVfs": "here they are called vfs: write vfs",
        "range": "each rail has a range of its own, cut from one: write rails with supernet and railPrefix",
    }

    mode: Mode | None = Field(None, description="default: ib-shared for InfiniBand, host-device for Ethernet (RoCE)")
    name: DnsLabel = Field("ib-rdma", description="name of the networks; with several rails NAME-rail-<n>")
    rails: RailNetworks | None = Field(None, description="addresses of the rails; needed where a mode gives pods any")
    addresses: Literal["dynamic", "static"] = Field(
        "dynamic", description="dynamic: blocks of addresses as nodes come; static: each node by its slot"
    )
    ipam: Literal["nv-ipam", "whereabouts"] = Field(
        "nv-ipam", description="who hands addresses out; whereabouts takes one lock of the whole cluster for each pod"
    )
    block_size: Annotated[int, Field(ge=1, le=256)] | None = Field(
        None,
        description="addresses of each node on each rail, which is how many pods can be attached there at once; "
        "default 4, or as many as there are virtual functions",
    )
    mtu: Annotated[int, Field(ge=1280, le=65535)] | None = Field(None, description="MTU of pods' interfaces")
    shares: Annotated[int, Field(ge=1, le=1000)] = Field(
        63, description="in shared modes: how many pods of a node may use the same cards"
    )
    vfs: Annotated[int, Field(ge=1, le=128)] = Field(
        8, description="in modes sriov and sriov-static: virtual functions of each port"
    )
    sriov_daemon_image: Text | None = Field(
        None, description="in mode sriov: image of a config daemon that runs on Talos, which the stock one does not"
    )
    pkey: Annotated[int, BeforeValidator(_pkey, json_schema_input_type=int | str)] | None = Field(
        None, description="partition of pods on InfiniBand, such as 0x8006; in modes sriov and sriov-static, with ufm"
    )
    ufm: Ufm | None = Field(None, description="the fabric's manager, for virtual functions of InfiniBand")
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
