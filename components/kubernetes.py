"""The only call sites of the Kubernetes provider: the cluster, its objects and releases, and what they share."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi_kubernetes import Provider

from components.webhook_races import retry_while_webhooks_start
from gpu_platform.planning.cluster import wrong_cluster
from gpu_platform.planning.model import Manifest, Release
from gpu_platform.settings.root import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from gpu_platform.planning.model import ClusterPlan, Kubeconfig, Part


class KubernetesObject(pulumi.CustomResource):
    """One object of any kind, as the plan has it.

    The SDK's typed classes register the same; importing them would cost every program start 0.2 s and more.
    """

    metadata: pulumi.Output[dict[str, Any]]

    def __init__(self, manifest: Manifest, opts: pulumi.ResourceOptions) -> None:
        super().__init__(manifest.token, manifest.key, {"metadata": None, **manifest.body}, opts)


class HelmRelease(pulumi.CustomResource):
    """One Helm release, registered as the SDK's helm.v3.Release does; importing that would cost as much again."""

    def __init__(self, release: Release, opts: pulumi.ResourceOptions) -> None:
        inputs = {
            "compat": "true",
            "name": release.name,
            "namespace": release.namespace,
            "chart": release.chart,
            "version": release.version,
            "repositoryOpts": {"repo": release.repository},
            "values": release.values,
            "timeout": release.timeout,
        }
        super().__init__("kubernetes:helm.sh/v3:Release", release.key, inputs, opts)


_RESOURCES: dict[type, Callable[[Any, pulumi.ResourceOptions], pulumi.Resource]] = {
    Manifest: KubernetesObject,
    Release: HelmRelease,
}


class Cluster:
    """The one provider of a stack, and the proof that it reaches the right cluster before anything is created.

    Both come with the first object: a stack that has none contacts no cluster.
    """

    def __init__(self, plan: ClusterPlan) -> None:
        self._plan = plan
        # By key: what one part made, a later one may name in `after`.
        self._made: dict[str, pulumi.Resource] = {}

    @cached_property
    def _provider(self) -> Provider:
        return Provider(
            self._plan.name,
            kubeconfig=_KUBECONFIGS[self._plan.kubeconfig.kind](self._plan.kubeconfig),
            # Set and unchanged, it keeps a new endpoint or certificate from replacing every object (pulumi#4326).
            cluster_identifier=self._plan.name,
            opts=pulumi.ResourceOptions(version=self._plan.provider_version),
        )

    @cached_property
    def _verified(self) -> pulumi.Output[list[pulumi.Resource]]:
        return _VERIFICATIONS[self._plan.online](self._plan, self._provider)

    @cached_property
    def _hooks(self) -> pulumi.ResourceHookBinding:
        return pulumi.ResourceHookBinding(on_error=[retry_while_webhooks_start()])

    def emit(self, part: Part, parent: pulumi.Resource) -> pulumi.Output[list[str]]:
        """Register everything in `part` under `parent`, each after what it names; return all URNs, once all exist."""
        for item in part.items:
            self._made[item.key] = _RESOURCES[type(item)](item, self._options(item, parent))
        return pulumi.Output.all(*(self._made[item.key].urn for item in part.items))

    def _options(self, item: Manifest | Release, parent: pulumi.Resource) -> pulumi.ResourceOptions:
        before = [self._made[key] for key in item.after]
        return pulumi.ResourceOptions(
            parent=parent,
            provider=self._provider,
            depends_on=self._verified.apply(lambda proof: [*proof, *before]),
            retain_on_delete=item.retain,
            protect=item.protect,
            hooks=self._hooks,
        )


def _from_stack(source: Kubeconfig) -> pulumi.Input[str]:
    return pulumi.Output.secret(pulumi.StackReference(source.name).require_output(source.output))


def _from_file(source: Kubeconfig) -> pulumi.Input[str]:
    try:
        return pulumi.Output.secret(Path(source.name).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise pulumi.RunError(
            f"the kubeconfig {source.name} (cluster.kubeconfigFrom.path) cannot be read: {error.strerror}; "
            "correct the path, or have that file written first"
        ) from None


_KUBECONFIGS: dict[str, Callable[[Kubeconfig], pulumi.Input[str] | None]] = {
    "stackReference": _from_stack,
    "path": _from_file,
    "secret": lambda _: pulumi.Config(NAMESPACE).require_secret("kubeconfig"),
    "ambient": lambda _: None,
}


def _read_kube_system(plan: ClusterPlan, provider: Provider) -> pulumi.Output[list[pulumi.Resource]]:
    """Read one namespace that every cluster has: a preview against an absent cluster would succeed otherwise."""
    options = pulumi.ResourceOptions(provider=provider, id="kube-system")
    namespace = KubernetesObject(Manifest("kube-system", {"apiVersion": "v1", "kind": "Namespace"}), options)

    def verify(metadata: dict[str, Any]) -> list[pulumi.Resource]:
        if trouble := wrong_cluster(plan, str(metadata["uid"])):
            raise pulumi.RunError(trouble)
        return [namespace]

    return namespace.metadata.apply(verify)


_VERIFICATIONS: dict[bool, Callable[[ClusterPlan, Provider], pulumi.Output[list[pulumi.Resource]]]] = {
    True: _read_kube_system,
    False: lambda _plan, _provider: pulumi.Output.from_input([]),
}
