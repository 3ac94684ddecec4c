"""One operator's release: chart, version, namespace, and the values with what a person adds to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.model import Manifest, Release
from gpu_platform.planning.operators.catalogue import catalogued, namespace, version
from gpu_platform.planning.operators.kinds import KINDS

if TYPE_CHECKING:
    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings


def release(name: str, operator: Operator, settings: Settings, *, after: tuple[str, ...]) -> Release:
    """Return an operator's release after what it needs."""
    row = catalogued(name)
    repository = operator.chart.repository or str(row["repository"])
    oci = repository.startswith("oci://")
    chart = operator.chart.path or (f"{repository}/{row['chart']}" if oci else str(row["chart"]))
    local = operator.chart.path is not None
    return Release(
        key=name,
        name=str(row.get("release", row["chart"])),
        namespace=namespace(name, operator),
        chart=chart,
        version=None if local else version(name, operator),
        repository=None if local or oci else repository,
        values=merged(operator.values, KINDS[name].values(settings)),
        timeout=operator.timeout_seconds or int(row["timeout_seconds"]),
        after=after,
        protect=not disposable(settings),
    )


def merged(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    """Return our values first, then what a person adds; where both speak, they agree (GPU-010), and mappings merge."""
    found = dict(ours)
    for key, value in theirs.items():
        both = isinstance(value, dict) and isinstance(found.get(key), dict)
        found[key] = merged(value, found[key]) if both else found.get(key, value)
    return found


def namespace_manifest(name: str, *, retain: bool) -> Manifest:
    """Return a namespace that admits the operators' privileged pods, which Talos refuses by default."""
    levels = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": levels}}
    return Manifest(key=namespace_key(name), body=body, retain=retain)


def namespace_key(name: str) -> str:
    """Return the key of a namespace among the manifests."""
    return f"{name}-namespace"


def disposable(settings: Settings) -> bool:
    """Tell whether this cluster may lose namespaces and operators with the stack."""
    return bool(settings.cluster and settings.cluster.disposable)
