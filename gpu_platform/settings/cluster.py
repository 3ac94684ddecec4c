"""Section `cluster`: which cluster this stack belongs to and how it is reached."""

from __future__ import annotations

import ipaddress
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from gpu_platform.settings.base import DnsLabel, Section, Text, Version


def _network(value: str) -> str:
    try:
        return str(ipaddress.ip_network(value))
    except ValueError:
        pass
    try:
        wish = f"did you mean {ipaddress.ip_network(value, strict=False)}?"
    except ValueError:
        wish = "write one such as 10.244.0.0/16"
    raise ValueError(f"{value!r} is no network address: {wish}")


Network = Annotated[str, AfterValidator(_network)]


class KubeconfigFrom(Section):
    """Where the kubeconfig comes from: an output of another stack, or a file."""

    stack_reference: Text | None = Field(None, description="organization/project/stack that exports a kubeconfig")
    output: Text = Field("kubeconfig", description="name of that stack's output")
    path: Text | None = Field(None, description="a kubeconfig file, relative to the project or absolute")

    @model_validator(mode="after")
    def _one(self) -> KubeconfigFrom:
        if (self.stack_reference is None) == (self.path is None):
            raise ValueError("name exactly one of stackReference and path")
        return self


class Networks(Section):
    """The cluster's own networks, which rails must not overlap."""

    pod: Network = Field("10.244.0.0/16", description="pod network (CIDR)")
    service: Network = Field("10.96.0.0/12", description="service network (CIDR)")
    node: Network | None = Field(None, description="network of the nodes' addresses (CIDR)")

    @model_validator(mode="after")
    def _apart(self) -> Networks:
        named = [(name, ipaddress.ip_network(cidr)) for name, cidr in self if cidr]
        for index, (name, one) in enumerate(named):
            for other_name, other in named[index + 1 :]:
                if one.version == other.version and one.overlaps(other):
                    raise ValueError(
                        f"networks {name} ({one}) and {other_name} ({other}) overlap: give each its own range"
                    )
        return self


class ProviderSettings(Section):
    """The Kubernetes provider plugin."""

    version: Version | None = Field(None, description="plugin version, when it differs from the installed SDK's")


class Cluster(Section):
    """The cluster and the phase of its life."""

    name: DnsLabel = Field(description="name of the cluster; part of outputs and of the provider's identity")
    phase: Literal["image", "full"] = Field(
        "full", description="image: only images and patches, no cluster is contacted"
    )
    talos_version: Version = Field(
        description="Talos release of the nodes; pools and nodes may differ during a rollout"
    )
    kubernetes_version: Version | None = Field(
        None, description="Kubernetes release, checked against the operators' range"
    )
    kubeconfig_from: KubeconfigFrom | None = Field(
        None, description="else the secret key kubeconfig, else the ambient one"
    )
    uid: Text | None = Field(None, description="UID of namespace kube-system; a cluster with another one is refused")
    disposable: bool = Field(False, description="destroy deletes namespaces and operators too")
    preview: Literal["online", "offline"] = Field("online", description="offline: preview does not contact the cluster")
    allow_pre_releases: bool = Field(False, description="accept alpha, beta and rc releases of Talos")
    networks: Networks = Field(default_factory=Networks, description="networks that rails must keep clear of")
    provider: ProviderSettings = Field(default_factory=ProviderSettings, description="the Kubernetes provider")
