"""What the simulator looks at: the objects of the cluster at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sandbox.devices.fabric import Fabric
from sandbox.devices.others import Others

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object

POLICY = "cluster-policy"


@dataclass(frozen=True)
class View:
    """The objects that decide which devices are published; namespaces holds labels by name."""

    namespaces: dict[str, dict[str, str]] = field(default_factory=dict)
    worker: Object | None = None
    worker_config: str | None = None
    operator: Object | None = None
    policies: tuple[Object, ...] = ()
    # The MIG manager's configuration, None where the ConfigMap that the policy names is not there.
    mig_library: str | None = None
    # The device plugin's configurations by key, None where the ConfigMap that the policy names is not there.
    plugin_configs: dict[str, str] | None = None
    # The DaemonSet of NVIDIA's DRA driver.
    dra_plugin: Object | None = None
    dranet: Object | None = None
    others: Others = field(default_factory=Others)
    fabric: Fabric = field(default_factory=Fabric)

    @property
    def policy(self) -> Object | None:
        """The one ClusterPolicy that the operator obeys; others it ignores."""
        return next((one for one in self.policies if one["metadata"]["name"] == POLICY), None)

    @property
    def kept(self) -> bool:
        """Whether the ClusterPolicy waits for the chart's pre-delete hook, which removes it with its definition."""
        notes = (self.policy or {"metadata": {}})["metadata"].get("annotations") or {}
        return notes.get("helm.sh/resource-policy") == "keep"

    @property
    def operator_running(self) -> bool:
        """Whether the operator's Deployment has an available replica."""
        return bool(self.operator and (self.operator.get("status") or {}).get("availableReplicas"))


def worker_config_name(worker: Object) -> tuple[str, str] | None:
    """Return the ConfigMap and key that a worker's pods read, following the volume that they mount."""
    for volume in worker["spec"]["template"]["spec"].get("volumes") or ():
        source = volume.get("configMap") or {}
        for item in source.get("items") or ({"key": "nfd-worker.conf", "path": "nfd-worker.conf"},):
            if source and item.get("path") == "nfd-worker.conf":
                return str(source["name"]), str(item["key"])
    return None
