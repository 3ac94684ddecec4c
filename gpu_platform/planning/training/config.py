"""Helm values of Kueue, and the configuration that its manager reads once, strictly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

from gpu_platform import facts
from gpu_platform.planning.fabric import modes, names
from gpu_platform.planning.operators import catalogue
from gpu_platform.planning.training import metal, queues
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def values(settings: Settings) -> dict[str, Any]:
    """Return the Helm values: two replicas, the released image, and our configuration as the one text that it is."""
    version = str(catalogue.version("kueue", settings.operators.kueue if settings.operators else None))
    row = facts.table("kueue")["manager"]
    manager: dict[str, Any] = {
        "replicas": row["replicas"],
        "podDisruptionBudget": {"enabled": True, "minAvailable": row["min_available"]},
        "manager": {
            "image": {
                "repository": facts.table("kueue")["image"]["repository"],
                "tag": f"v{version}",
                "pullPolicy": "IfNotPresent",
            },
            "resources": {
                "requests": {"cpu": row["cpu"], "memory": row["memory"]},
                "limits": {"memory": row["memory"]},
            },
        },
    }
    if gates := feature_gates(settings, version):
        manager["featureGates"] = [{"name": name, "enabled": True} for name in gates]
    text = yaml.safe_dump(configuration(settings), sort_keys=True, width=120)
    monitors = bool(settings.gpu and settings.gpu.service_monitor)
    return {
        "controllerManager": manager,
        "managerConfig": {"controllerManagerConfigYaml": text},
        **({"enablePrometheus": True} if monitors else {}),
    }


def feature_gates(settings: Settings, version: str) -> list[str]:
    """Return the gates that this release needs for what the pools hand out."""
    major, number = minor(version)
    rows = facts.table("kueue")["gates"]
    row = rows.get(f"{major}.{number}", {})
    return list(row.get("claims", [])) if metal.classes(settings) else []


def namespaces(settings: Settings) -> list[str]:
    """Return every namespace with a queue: where Kueue is not asked, it cannot stand in the way either (kueue#5244)."""
    return sorted({name for one in queues.specs(settings) for name in one.namespaces})


def excluded(settings: Settings) -> list[str]:
    """Return the prefixes of resources that quota leaves out on purpose: what nodes have in proportion, and rails."""
    found = list(facts.table("kueue")["excluded"]["prefixes"])
    if modes.present(settings) and (prefix := modes.row(settings)["prefix"]):
        found.append(f"{prefix}/{names.base(settings).replace('-', '_')}")
    return found


def configuration(settings: Settings) -> dict[str, Any]:
    """Return the Configuration; no field that one of 0.17, 0.18 and 0.19 does not know, since it would not start."""
    rows, training = facts.table("kueue"), settings.training
    selector = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": namespaces(settings)}
    resources: dict[str, Any] = {"excludeResourcePrefixes": excluded(settings)}
    if classes := metal.classes(settings):
        resources["deviceClassMappings"] = [
            {"name": name, "deviceClassNames": [one]} for name, one in sorted(classes.items())
        ]
    found: dict[str, Any] = {
        "apiVersion": rows["api"]["config"],
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": rows["manager"]["health"]},
        "metrics": {"bindAddress": rows["manager"]["metrics"], "enableClusterQueueResources": True},
        "webhook": {"port": rows["manager"]["webhook"]},
        "leaderElection": {"leaderElect": True, "resourceName": rows["manager"]["lease"]},
        "manageJobsWithoutQueueName": False,
        "managedJobsNamespaceSelector": {"matchExpressions": [selector]},
        "integrations": {"frameworks": list(rows["frameworks"]["names"])},
        "resources": resources,
        "waitForPodsReady": {
            "timeout": f"{training.start_timeout_minutes if training else 0}m",
            "recoveryTimeout": f"{training.start_timeout_minutes if training else 0}m",
            # One slow image would hold up every other gang: packing by topology makes it needless.
            "blockAdmission": False,
            "requeuingStrategy": {
                "timestamp": "Eviction",
                "backoffLimitCount": rows["requeuing"]["backoff_limit_count"],
            },
        },
        "objectRetentionPolicies": {"workloads": {"afterFinished": rows["retention"]["after_finished"]}},
    }
    if training and training.fair_sharing:
        found["fairSharing"] = {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]}
    return found
