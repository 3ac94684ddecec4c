"""The contract of the fabric: what a pod says to use all rails."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gpu_platform.outputs.base import Contract


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
