"""What the simulator looks at for the fabric: the network operator's objects and the SR-IOV operator's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.devices.fabric import Fabric
from sandbox.devices.others import first, listed
from sandbox.devices.sriov import Sriov

if TYPE_CHECKING:
    from sandbox.kube import Kube

SRIOV_API = "sriovnetwork.openshift.io/v1"
_NETWORK_OPERATOR = "app.kubernetes.io/name=network-operator"
_SRIOV_OPERATOR = "app.kubernetes.io/name=sriov-network-operator"


def look(kube: Kube) -> Fabric:
    """Return what the cluster holds now; what nobody installed costs one question."""
    policies = listed(kube, "mellanox.com/v1alpha1", "nicclusterpolicies") or []
    operator = first(kube, "deployments", labelSelector=_NETWORK_OPERATOR) if policies else None
    return Fabric(operator, tuple(policies), _sriov(kube))


def _sriov(kube: Kube) -> Sriov:
    policies = listed(kube, SRIOV_API, "sriovnetworknodepolicies")
    if policies is None:
        return Sriov()
    # It brings CNI plugins to nodes even where it makes no VFs.
    operator = first(kube, "deployments", labelSelector=_SRIOV_OPERATOR)
    configs = listed(kube, SRIOV_API, "sriovoperatorconfigs") or [] if operator else []
    return Sriov(operator, tuple(configs), tuple(policies))
