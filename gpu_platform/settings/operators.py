"""Section `operators`: what is installed into the cluster, by whom, from where."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from gpu_platform.settings.base import DnsLabel, Section, Text, Version


class Chart(Section):
    """Where a chart comes from, when not from its public repository."""

    path: Text | None = Field(None, description="a local chart directory, relative to the project")
    repository: Annotated[Text, Field(pattern=r"^(https?|oci)://")] | None = Field(
        None, description="a Helm repository (https://) or OCI registry (oci://)"
    )

    @model_validator(mode="after")
    def _one(self) -> Chart:
        if self.path and self.repository:
            raise ValueError("name one of path and repository, not both")
        return self


class Operator(Section):
    """One operator: installed by this stack, or there already."""

    manage: Literal["install", "existing"] = Field(
        "install", description="existing: somebody else's release, left alone"
    )
    version: Version | None = Field(None, description="chart version; needed with existing")
    namespace: DnsLabel | None = Field(None, description="its namespace")
    manage_namespace: Literal["install", "existing"] = Field(
        "install", description="whether its namespace exists already"
    )
    chart: Chart = Field(default_factory=Chart, description="where the chart comes from")
    values: dict[str, Any] = Field(
        default_factory=dict, description="further Helm values; those that this stack decides cannot be changed here"
    )
    timeout_seconds: Annotated[int, Field(ge=10, le=3600)] | None = Field(
        None, description="how long Helm waits, seconds"
    )


class Multus(Section):
    """The plugin that attaches pods to several networks: part of the network operator's policy."""

    manage: Literal["install", "existing"] = Field(
        "install", description="existing: somebody else's DaemonSet, left alone"
    )


class Operators(Section):
    """The operators of the platform; what is left out is installed with its default version."""

    gpu_operator: Operator = Field(default_factory=Operator, alias="gpu-operator", description="NVIDIA GPU operator")
    dra_driver: Operator = Field(
        default_factory=Operator, alias="dra-driver", description="NVIDIA driver for Dynamic Resource Allocation"
    )
    rocm: Operator = Field(default_factory=Operator, description="AMD GPU operator (ROCm)")
    gaudi: Operator = Field(default_factory=Operator, description="Intel Gaudi operator, for pools with os: other")
    gaudi_dra: Operator = Field(
        default_factory=Operator, alias="gaudi-dra", description="Intel Gaudi driver for Dynamic Resource Allocation"
    )
    network_operator: Operator = Field(
        default_factory=Operator, alias="network-operator", description="NVIDIA network operator, for pools with nics"
    )
    multus: Multus = Field(default_factory=Multus, description="Multus, where the fabric's mode needs it")
    whereabouts: Operator = Field(default_factory=Operator, description="whereabouts, with fabric.ipam: whereabouts")
    dranet: Operator = Field(default_factory=Operator, description="dranet, with fabric.mode: dra")
    kueue: Operator = Field(default_factory=Operator, description="Kueue, with section training")
    nfd: Operator = Field(default_factory=Operator, description="Node Feature Discovery, one for all vendors")
