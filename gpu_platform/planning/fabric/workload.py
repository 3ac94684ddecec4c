"""What a pod needs to use the rails of a pool: networks and limits that always go together, and NCCL's environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.planning.fabric import claims, names
from gpu_platform.planning.fabric.groups import Group, groups
from gpu_platform.planning.fabric.modes import network
from gpu_platform.planning.labels import PREFIX

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings

NETWORKS = "k8s.v1.cni.cncf.io/networks"
# Name of the pod's claim, within the pod.
CLAIM = "devices"
# NCCL's between the processes of a pod: the 64 MiB that a container has otherwise are too few.
SHARED_MEMORY = {"name": "dshm", "mountPath": "/dev/shm"}  # noqa: S108 - NCCL's, not ours
IN_MEMORY = {"name": "dshm", "emptyDir": {"medium": "Memory"}}


@dataclass(frozen=True)
class Workload:
    """What a pod on one pool says: annotation value, limits, claim template, node selector, environment of NCCL."""

    pool: str
    networks: str
    limits: dict[str, str]
    node_selector: dict[str, str]
    environment: dict[str, str]
    claim_template: str | None

    @property
    def patch(self) -> dict[str, Any]:
        """The pod template, as a strategic merge patch; `*` stands for the container's name."""
        resources: dict[str, Any] = {"limits": self.limits}
        claims = []
        if self.claim_template:
            resources["claims"] = [{"name": CLAIM}]
            claims = [{"name": CLAIM, "resourceClaimTemplateName": self.claim_template}]
        container = {
            "name": "*",
            "resources": resources,
            "env": [{"name": name, "value": value} for name, value in self.environment.items()],
            # Memory that a NIC reads must stay where it is; beyond root, the machine's own limit decides.
            "securityContext": {"capabilities": {"add": ["IPC_LOCK"]}},
            "volumeMounts": [SHARED_MEMORY],
        }
        metadata = {"metadata": {"annotations": {NETWORKS: self.networks}}} if self.networks else {}
        volumes = [IN_MEMORY]
        spec = {"nodeSelector": self.node_selector, "containers": [container], "volumes": volumes}
        if claims:
            spec["resourceClaims"] = claims
        return {**metadata, "spec": spec}


def workloads(settings: Settings) -> tuple[Workload, ...]:
    """Return what pods on each pool of the fabric say to use every rail with every card of a node."""
    return tuple(_workload(settings, one) for one in groups(settings))


def _workload(settings: Settings, group: Group) -> Workload:
    rails = range(len(group.ports))
    attached = [names.network(settings, rail) for rail in rails] if network(settings) else []
    resources = {name: "1" for rail in rails if (name := names.resource(settings, rail))}
    found = settings.inventory.pools[group.pool] if settings.inventory else None
    vendor = inventory.card(found).get("vendor") if found else None
    claimed = found is not None and found.allocation == "dra"
    cards = {facts.table("vendors")[vendor]["resource"]: str(inventory.per_node(found))} if found and vendor else {}
    template = claims.template(settings, group, "")
    return Workload(
        pool=group.pool,
        networks=",".join(attached),
        limits={**({} if claimed else cards), **resources},
        node_selector={f"{PREFIX}/pool": group.pool},
        environment=_environment(group),
        claim_template=template["metadata"]["name"] if template else None,
    )


def _environment(group: Group) -> dict[str, str]:
    """Return NCCL's environment; the index of the GID is left to NCCL, since it differs from pod to pod (nccl#1573)."""
    hcas = [port.hca for port in group.ports]
    # With a leading = names are exact: mlx5_1 would stand for mlx5_10, too.
    listed = {"NCCL_IB_HCA": "=" + ",".join(one for one in hcas if one)} if all(hcas) else {}
    return {**listed, "NCCL_SOCKET_IFNAME": "eth0"}
