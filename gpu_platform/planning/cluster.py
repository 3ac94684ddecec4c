"""The cluster: its identity, its kubeconfig, and what a preview can know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning.model import ClusterPlan, Kubeconfig
from gpu_platform.settings.base import release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.cluster import Cluster
    from gpu_platform.settings.root import Settings


def plan_cluster(settings: Settings) -> ClusterPlan:
    """Return the cluster's part of the plan; needs section cluster."""
    cluster = settings.cluster
    assert cluster is not None  # noqa: S101 - a missing section is an error finding, and then nothing is planned
    full = cluster.phase == "full"
    return ClusterPlan(
        name=cluster.name,
        phase=cluster.phase,
        talos_version=cluster.talos_version,
        kubernetes_version=cluster.kubernetes_version,
        kubeconfig=_kubeconfig(cluster, settings.secrets) if full else Kubeconfig("none"),
        uid=cluster.uid,
        provider_version=(cluster.provider.version or "").removeprefix("v") or None,
        disposable=cluster.disposable,
        online=cluster.preview == "online",
    )


def _kubeconfig(cluster: Cluster, secrets: frozenset[str]) -> Kubeconfig:
    source = cluster.kubeconfig_from
    if source and source.stack_reference:
        return Kubeconfig("stackReference", source.stack_reference, source.output)
    if source and source.path:
        return Kubeconfig("path", source.path)
    return Kubeconfig("secret" if "kubeconfig" in secrets else "ambient")


def cluster_findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with section cluster beyond its shape."""
    cluster = settings.cluster
    if cluster is None:
        return
    if cluster.kubeconfig_from and "kubeconfig" in settings.secrets:
        yield finding(
            "CFG-013",
            "cluster.kubeconfigFrom",
            "both cluster.kubeconfigFrom and the secret key kubeconfig say where the kubeconfig is",
            "keep one of the two",
        )
    if cluster.phase == "full" and cluster.preview == "offline":
        yield finding(
            "CFG-016",
            "cluster.preview",
            "a preview will succeed whether or not the cluster is there or is the right one",
            "write preview: online where the cluster can be reached",
        )
    floor = facts.table("catalog")["kubernetes_provider"]["floor"]
    if cluster.provider.version and release(cluster.provider.version) < release(floor):
        yield finding(
            "COMPAT-004",
            "cluster.provider.version",
            f"{cluster.provider.version} is older than {floor}",
            f"write v{floor} or newer, or leave it out",
        )


def wrong_cluster(plan: ClusterPlan, uid: str) -> str | None:
    """Return a sentence when the cluster that answers is not the one of this stack; `uid` is kube-system's."""
    if plan.uid is None or plan.uid == uid:
        return None
    return (
        f"this is the wrong cluster: namespace kube-system has UID {uid}, the stack file says {plan.uid} "
        f"(cluster.uid); point the kubeconfig at cluster {plan.name}, or correct cluster.uid"
    )
