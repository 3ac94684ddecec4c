"""A DeviceConfig of AMD's operator: what keeps its operands from a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.devices.others import available
from sandbox.devices.placement import ENFORCE, admits_privileged, spelled, untolerated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.hardware import Machine, Object
    from sandbox.devices.view import View

PREFIX = "amd.com/"
EXTENSION = "siderolabs/amdgpu"
# Flags and values that the operator lets through (internal/validator/specValidators.go of v1.5.1).
_FLAGS = {
    "resource_naming_strategy": {"single", "mixed"},
    "driver_type": {"container", "vf-passthrough", "pf-passthrough"},
}


def obstacles(view: View, machine: Machine, config: Object) -> Iterator[str]:
    """Yield what keeps the operands of a DeviceConfig from working on the machine."""
    space, driver = config["metadata"]["namespace"], spec_of(config).get("driver") or {}
    if not any(one.startswith(PREFIX) for one in machine.extended):
        yield from _operator(view, space)
    talos = machine.system == "talos"
    if talos and not admits_privileged(view.namespaces.get(space)):
        yield f"namespace {space} lacks {ENFORCE}=privileged, and Talos refuses the operands' pods"
    yield from _refused(view, config)
    if driver.get("enable", True):
        if talos:
            yield "driver.enable is true: no container may load kernel modules on Talos"
        if not view.others.kmm:
            yield "driver.enable is true: without KMM nobody builds the driver"
    if talos and EXTENSION not in machine.extensions:
        yield f"the image has no extension {EXTENSION}: the device plugin waits for the driver amdgpu"
    dra = enabled(config, "draDriver", "enable", default=False)
    section, key = ("draDriver", "tolerations") if dra else ("devicePlugin", "devicePluginTolerations")
    if not dra and not enabled(config, "devicePlugin", "enableDevicePlugin"):
        yield "devicePlugin.enableDevicePlugin and draDriver.enable are false: nothing is handed out"
    if taint := untolerated(machine, (spec_of(config).get(section) or {}).get(key) or ()):
        yield f"{section}.{key} of the DeviceConfig do not tolerate taint {spelled(taint)}"


def _operator(view: View, space: str) -> Iterator[str]:
    """Yield why no operator takes up the DeviceConfig; operands that run outlive its restart."""
    operator = view.others.amd_operator
    if operator is None:
        yield "no controller manager of AMD's operator is in the cluster"
        return
    if operator["metadata"]["namespace"] != space:
        yield f"namespace {space} of the DeviceConfig is not the operator's: it lacks their service accounts"
    if _watches_kmm(operator) and not view.others.kmm:
        yield "AMD's operator does not start: kmm.watch is true, and the cluster has no KMM modules"
    if not available(operator):
        yield f"the Deployment {operator['metadata']['name']} is not available"


def _refused(view: View, config: Object) -> Iterator[str]:
    """Yield why the operator finds a DeviceConfig invalid; its schema says none of this."""
    spec, space = spec_of(config), config["metadata"]["namespace"]
    plugin, exporter = spec.get("devicePlugin") or {}, spec.get("metricsExporter") or {}
    if exporter.get("enable"):
        name = (exporter.get("config") or {}).get("name")
        if name and f"{space}/{name}" not in view.others.libraries:
            yield f"the operator refuses the DeviceConfig: metricsExporter.config names {name}, which is not there"
        monitor = (exporter.get("prometheus") or {}).get("serviceMonitor") or {}
        if monitor.get("enable") and not view.others.service_monitors:
            yield "the operator refuses the DeviceConfig: serviceMonitor.enable, and nobody defines ServiceMonitors"
    if not enabled(config, "devicePlugin", "enableDevicePlugin"):
        return
    if enabled(config, "draDriver", "enable", default=False):
        yield "the operator refuses the DeviceConfig: draDriver and devicePlugin cannot both be enabled"
    for flag, value in (plugin.get("devicePluginArguments") or {}).items():
        if value not in _FLAGS.get(flag, ()):
            yield f"the operator refuses the DeviceConfig: devicePluginArguments {flag}={value}"


def _watches_kmm(operator: Object) -> bool:
    pod = ((operator.get("spec") or {}).get("template") or {}).get("spec") or {}
    env = [each for one in pod.get("containers") or () for each in one.get("env") or ()]
    return "false" not in [one.get("value") for one in env if one.get("name") == "KMM_WATCH_ENABLED"]


def spec_of(config: Object) -> Object:
    """Return what a DeviceConfig says."""
    return config.get("spec") or {}


def enabled(config: Object, section: str, key: str, *, default: bool = True) -> bool:
    """Tell whether a section of a DeviceConfig is on."""
    found = (spec_of(config).get(section) or {}).get(key)
    return default if found is None else bool(found)


def selects(selector: dict[str, str] | None, labels: dict[str, str]) -> bool:
    """Tell whether a selector takes a node with these labels."""
    return all(labels.get(key) == value for key, value in (selector or {}).items())


def spelled_selector(selector: dict[str, str] | None) -> str:
    """Return a selector as kubectl writes it."""
    return ",".join(f"{key}={value}" for key, value in (selector or {}).items()) or "every node"
