"""GpuOperator: Node Feature Discovery and the NVIDIA GPU operator, with the values that Talos needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import inventory
from gpu_platform.planning.mig import objects
from gpu_platform.planning.model import Manifest, OperatorPlan, Part, Release

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

GPU_TAINT = {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}


def settings_of(settings: Settings) -> dict[str, Operator]:
    """Return the operators that this inventory needs, by their name in the stack file, in the order of installation."""
    if settings.operators is None or not inventory.nvidia_pools(settings):
        return {}
    return {"nfd": settings.operators.nfd, "gpu-operator": settings.operators.gpu_operator}


def plan_operators(settings: Settings) -> tuple[OperatorPlan, ...]:
    """Return each operator as outputs show it, with the values that a foreign release must carry."""
    return tuple(
        OperatorPlan(
            name=name,
            manage=operator.manage,
            version=_version(name, operator),
            namespace=namespace(name, operator),
            required_values=values(settings)[name] if operator.manage == "existing" else {},
        )
        for name, operator in settings_of(settings).items()
    )


def plan_part(settings: Settings) -> Part:
    """Return what this stack installs: namespaces, the library of layouts, releases, and then labels on nodes."""
    spaces: dict[str, Manifest] = {}
    items: list[Manifest | Release] = []
    for name, operator in settings_of(settings).items():
        space = namespace(name, operator)
        owned = operator.manage == "install" and operator.manage_namespace == "install"
        if owned:
            spaces.setdefault(space, _namespace(space, retain=not _disposable(settings)))
        before = (_namespace_key(space),) if owned else ()
        layouts = objects.config_map(settings, space, before) if name == "gpu-operator" else ()
        items += layouts
        if operator.manage == "install":
            after = (*before, *(one.key for one in items))
            items.append(_release(name, operator, settings, after=after))
    items += objects.node_patches(settings, tuple(one.key for one in items[-1:]))
    return Part((*spaces.values(), *items))


def namespace(name: str, operator: Operator) -> str:
    """Return the namespace of an operator."""
    return operator.namespace or str(facts.table("catalog")["operator"][name]["namespace"])


def values(settings: Settings) -> dict[str, dict[str, Any]]:
    """Return the Helm values of every operator by its name in the stack file."""
    return {"nfd": _nfd_values(settings), "gpu-operator": _gpu_operator_values(settings)}


def _nfd_values(settings: Settings) -> dict[str, Any]:
    classes = facts.table("catalog")["operator"]["nfd"]["pci_classes"]
    sources = {"pci": {"deviceClassWhitelist": classes, "deviceLabelFields": ["vendor"]}}
    return {
        "worker": {"config": {"sources": sources}, "tolerations": _tolerations(settings)},
    }


def _gpu_operator_values(settings: Settings) -> dict[str, Any]:
    """Return the values for Talos: the image brings driver and toolkit, the operator brings the rest.

    Sources: siderolabs docs for Talos 1.13; NVIDIA/gpu-operator v26.7.0 templates (validator.*.env).
    """
    gpu = settings.gpu
    assert gpu is not None  # noqa: S101 - a broken section is an error finding, and then nothing is planned
    no_symlinks = {"name": "DISABLE_DEV_CHAR_SYMLINK_CREATION", "value": "true"}
    workload = {"name": "WITH_WORKLOAD", "value": str(gpu.validation_workload).lower()}
    return {
        "nfd": {"enabled": False},
        "driver": {"enabled": False},
        "toolkit": {"enabled": False},
        "hostPaths": {"driverInstallDir": facts.table("machine")["nvidia"]["driver_root"]},
        "validator": {"driver": {"env": [no_symlinks]}, "plugin": {"env": [workload]}},
        "devicePlugin": {"enabled": True},
        "dcgmExporter": {"enabled": True, "serviceMonitor": {"enabled": gpu.service_monitor}},
        "gfd": {"enabled": True},
        **objects.values(settings),
        "daemonsets": {"tolerations": _tolerations(settings)},
    }


def _tolerations(settings: Settings) -> list[dict[str, str]]:
    """Return the operands' tolerations: the default, which a list of ours would replace, and every pool's taints."""
    found = [GPU_TAINT]
    for pool in inventory.nvidia_pools(settings).values():
        for taint in pool.taints:
            match = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
            one = {"key": taint.key, **match, "effect": taint.effect}
            covered = taint.key == GPU_TAINT["key"] and taint.effect == GPU_TAINT["effect"]
            if not covered and one not in found:
                found.append(one)
    return found


def _release(name: str, operator: Operator, settings: Settings, *, after: tuple[str, ...]) -> Release:
    row = facts.table("catalog")["operator"][name]
    repository = operator.chart.repository or str(row["repository"])
    oci = repository.startswith("oci://")
    chart = operator.chart.path or (f"{repository}/{row['chart']}" if oci else str(row["chart"]))
    local = operator.chart.path is not None
    return Release(
        key=name,
        name=str(row["chart"]),
        namespace=namespace(name, operator),
        chart=chart,
        version=None if local else _version(name, operator),
        repository=None if local or oci else repository,
        values=values(settings)[name],
        timeout=operator.timeout_seconds or int(row["timeout_seconds"]),
        after=after,
        protect=not _disposable(settings),
    )


def _version(name: str, operator: Operator) -> str:
    default = str(facts.table("catalog")["operator"][name]["version"])
    if operator.version is None:
        return default
    # Charts differ in whether their versions begin with v: the catalogue's row tells.
    return operator.version if default.startswith("v") else operator.version.removeprefix("v")


def _namespace(name: str, *, retain: bool) -> Manifest:
    """Return a namespace that admits the operators' privileged pods, which Talos refuses by default."""
    levels = {f"pod-security.kubernetes.io/{mode}": "privileged" for mode in ("enforce", "audit", "warn")}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": levels}}
    return Manifest(key=_namespace_key(name), body=body, retain=retain)


def _namespace_key(name: str) -> str:
    return f"{name}-namespace"


def _disposable(settings: Settings) -> bool:
    return bool(settings.cluster and settings.cluster.disposable)


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the operators beyond their shape and versions."""
    owners: dict[str, tuple[str, str]] = {}
    for name, operator in settings_of(settings).items():
        space = namespace(name, operator)
        first, owned = owners.setdefault(space, (name, operator.manage_namespace))
        if owned != operator.manage_namespace:
            says = f"{first} says it is {_says(owned)}, {name} says it is {_says(operator.manage_namespace)}"
            message = f"who owns namespace {space}? {says}"
            yield finding("CFG-017", f"operators.{name}.manageNamespace", message, "write the same in both")


def _says(manage: str) -> str:
    return "there already" if manage == "existing" else "made by this stack"
