"""What a stack file means: images, drivers, nodes, operators, defaults with their reasons, and what is off."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from rich.text import Text

from gpu_platform import facts
from gpu_platform.reports import explain_queues

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from gpu_platform.planning.model import ImageClass, OperatorPlan, Plan


def as_json(plan: Plan) -> dict[str, Any]:
    """Return the explanation for machines."""
    return {
        "cluster": plan.cluster.name,
        "classes": {one.name: _class(plan, one) for one in plan.image.classes},
        "operators": {one.name: f"{one.manage} {one.version} in {one.namespace}" for one in plan.operators},
        "gpus": dict(_gpus(plan)),
        "needs": {need: f"for {one.name}: {why}" for one in plan.operators for need, why in one.needs.items()},
        "fabric": dict(_fabric(plan)),
        "queues": dict(explain_queues.rows(plan.queues)),
        "off": {one.part: one.reason for one in plan.off},
        "defaults": dict(reasons(plan)),
    }


def _class(plan: Plan, one: ImageClass) -> dict[str, Any]:
    return {
        "schematic": one.schematic_id,
        "installer": one.boot.installer,
        "talos": one.talos_version,
        "driver": driver(one),
        "extensions": [
            f"{each.name.removeprefix('siderolabs/')} {each.version or ''}".rstrip() for each in one.extensions
        ],
        "kernelArgs": list(one.kernel_args),
        "nodes": [node.name for node in plan.nodes if node.image_class == one.name],
    }


def driver(one: ImageClass) -> str:
    """Return the driver of a class in words."""
    if not one.driver_branch:
        return "none"
    return f"{one.driver_version or 'unknown'} ({one.driver_branch}, {one.kernel_modules} modules)"


def _gpus(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield pool and its cards by node state, so that the sum is the metal."""
    for pool in dict.fromkeys(node.pool for node in plan.nodes):
        nodes = [node for node in plan.nodes if node.pool == pool]
        states = Counter[str]()
        for node in nodes:
            states[node.state] += node.gpu_count
        text = ", ".join(f"{count} {state}" for state, count in states.items() if count)
        yield pool, f"{sum(states.values())} x {nodes[0].gpu_model} ({text})" if nodes[0].gpu_model else "no GPUs"


def _fabric(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the fabric's mode, who is attached, and how many rails each pool has."""
    if plan.fabric is None:
        return
    room = f", room for {plan.fabric.capacity} nodes on each rail" if plan.fabric.capacity is not None else ""
    attached = f", pods of {', '.join(plan.fabric.namespaces)} are attached" if plan.fabric.capacity is not None else ""
    yield "mode", f"{plan.fabric.mode}{attached}{room}"
    for pool in plan.fabric.pools:
        yield pool.name, f"{len(pool.rails)} rails, {pool.fabric}; a pod asks for {_limits(pool.limits)}"


def _limits(limits: dict[str, str]) -> str:
    found = [f"{count} {name}" for name, count in limits.items()]
    return ", ".join(found) if len(found) <= 3 else f"{', '.join(found[:2])} to {found[-1]}"


def reasons(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield what the stack file leaves to us and why it is so."""
    catalog = facts.table("catalog")["operator"]
    for one in plan.operators:
        if one.manage == "install":
            yield f"operators.{one.name}", f"version {one.version}: {catalog[one.name]['source']}{_pinned(one)}"
    for image in plan.image.classes:
        if image.kernel_modules:
            path = f"inventory.pools.{image.pool}.image.kernelModules"
            yield path, f"{image.kernel_modules}: what drives {_model(plan, image)} (facts/gpus.toml)"
    if plan.cluster.kubeconfig.kind == "ambient":
        yield "cluster.kubeconfigFrom", "the ambient kubeconfig, since no other is named"


def _pinned(one: OperatorPlan) -> str:
    """Return what NVIDIA's own recipes pin, where they pin another version."""
    theirs = facts.table("catalog")["operator"][one.name].get("aicr")
    return f" (NVIDIA's AICR recipes pin {theirs})" if theirs and theirs != one.version else ""


def _model(plan: Plan, image: ImageClass) -> str:
    return next(node.gpu_model or "" for node in plan.nodes if node.pool == image.pool)


def for_people(plan: Plan) -> Iterator[RenderableType]:
    """Yield what a terminal shows."""
    said = as_json(plan)
    for name, one in said["classes"].items():
        rows = [
            ("schematic", one["schematic"]),
            ("installer", one["installer"]),
            ("driver", one["driver"]),
            ("extensions", "\n".join(one["extensions"]) or "none"),
            ("kernel args", " ".join(one["kernelArgs"]) or "none"),
            ("nodes", ", ".join(one["nodes"])),
        ]
        yield table(f"image class {name} (Talos {one['talos']})", rows)
    yield table("GPUs by pool", said["gpus"].items())
    if said["fabric"]:
        yield table("fabric", said["fabric"].items())
    if said["queues"]:
        yield table("queues", said["queues"].items())
    if said["operators"]:
        yield table("operators", said["operators"].items())
    if said["needs"]:
        yield table("needed besides, not installed here", said["needs"].items())
    if said["defaults"]:
        yield table("chosen for you, and why", said["defaults"].items())
    if said["off"]:
        yield table("not there", said["off"].items())


def table(title: str, rows: Iterable[tuple[str, str]]) -> Text:
    """Return a title and two columns; nothing is folded, since what is long here is copied."""
    pairs = list(rows)
    width = max((len(key) for key, _ in pairs), default=0)
    shown = Text(title, style="bold")
    for key, value in pairs:
        shown.append(f"\n  {key:{width}}  ", style="not bold cyan")
        shown.append(value.replace("\n", "\n".ljust(width + 5)), style="not bold")
    return shown
