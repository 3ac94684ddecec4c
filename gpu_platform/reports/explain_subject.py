"""One pool, node or queue, or the fabric, explained: what it boots and why, what its machines are told."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from gpu_platform.reports import explain_fabric, explain_queues
from gpu_platform.reports.explain import driver, table
from gpu_platform.reports.mig_picture import picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from gpu_platform.planning.model import Extension, FabricPlan, ImageClass, NodePlan, Plan

# The one subject that is not a name of the inventory; a pool or node that is called so is asked for as KIND/fabric.
FABRIC = "fabric"


class UnknownSubjectError(Exception):
    """One sentence: what there is to explain instead."""


def as_json(plan: Plan, subject: str) -> dict[str, Any]:
    """Return the explanation of `fabric`, `KIND/NAME` (pool, node, queue) or a NAME; raises UnknownSubjectError."""
    if subject == FABRIC:
        return explain_fabric.as_json(plan, fabric(plan))
    return {name: dict(rows) for name, rows in _sections(plan, subject)}


def for_people(plan: Plan, subject: str) -> Iterator[RenderableType]:
    """Yield what a terminal shows of it."""
    if subject == FABRIC:
        yield from explain_fabric.for_people(plan, fabric(plan))
        return
    for name, rows in _sections(plan, subject):
        yield table(name, rows)


def fabric(plan: Plan) -> FabricPlan:
    """Return the fabric; raises UnknownSubjectError, which says why there is none."""
    if plan.fabric is None:
        why = next((one.reason for one in plan.off if one.part == "rdmaFabric"), "off, because no pool is on it")
        raise UnknownSubjectError(f"there is no fabric in this stack: {why}")
    return plan.fabric


def _sections(plan: Plan, subject: str) -> list[tuple[str, list[tuple[str, str]]]]:
    kind, _, name = subject.rpartition("/")
    pools = {node.pool for node in plan.nodes}
    if kind in {"", "pool"} and name in pools:
        return _pool(plan, name)
    if kind in {"", "node"} and name in {node.name for node in plan.nodes}:
        node = next(one for one in plan.nodes if one.name == name)
        return [
            (f"node {name}", _node(node)),
            *_cards(plan, [node]),
            *_rails(plan, node.pool),
            *_classes(plan, node.image_class),
        ]
    queues = {one.name: one for one in plan.queues.queues} if plan.queues else {}
    # A bare name is a pool's or a node's first: those were there before there were queues.
    if plan.queues and kind in {"", "queue"} and name in queues:
        return [(title, list(rows)) for title, rows in explain_queues.one_queue(plan.queues, queues[name])]
    known = [FABRIC] * (plan.fabric is not None) + [f"queue/{one}" for one in queues]
    known += [f"pool/{one}" for one in sorted(pools)] + [f"node/{node.name}" for node in plan.nodes]
    near = difflib.get_close_matches(name, [one.rpartition("/")[2] for one in known], n=1, cutoff=0.6)
    wish = [one for one in known if near and one.rpartition("/")[2] == near[0]]
    fix = f"did you mean {wish[0]}?" if wish else f"write one of {', '.join(known)}"
    raise UnknownSubjectError(f"there is no {subject} in this stack: {fix}")


def _pool(plan: Plan, name: str) -> list[tuple[str, list[tuple[str, str]]]]:
    nodes = [node for node in plan.nodes if node.pool == name]
    rows = [("nodes", ", ".join(f"{node.name} ({node.state})" for node in nodes))]
    if nodes[0].gpu_model:
        rows.append(("GPUs", f"{nodes[0].gpu_count} x {nodes[0].gpu_model} a node"))
        rows.append(("handed out", "\n".join(_by_what_they_hand_out(nodes))))
    classes = _classes(plan, *(one.name for one in plan.image.classes if one.pool == name))
    return [
        (f"pool {name}", rows if classes else [*rows, ("image", "none: its nodes do not run Talos, or none is in")]),
        *_cards(plan, nodes),
        *_rails(plan, name),
        *classes,
    ]


def _node(node: NodePlan) -> list[tuple[str, str]]:
    rows = {
        "pool": node.pool,
        "state": node.state,
        "image class": node.image_class or "none",
        "GPUs": f"{node.gpu_count} x {node.gpu_model}" if node.gpu_model else "none",
        "handed out": handed_out(node),
        "shared": node.sharing or "no",
        **({"partition": node.partition} if node.partition else {}),
        "labels": "\n".join(f"{key}={value}" for key, value in node.labels.items()),
    }
    return list(rows.items())


def handed_out(node: NodePlan) -> str:
    """Return in words what a node hands out, and to whom."""
    counted = [f"{count} {name}" for name, count in node.resources.items()]
    claimed = [f"{count} {name} for claims" for name, count in node.devices.items()]
    return ", ".join([*counted, *claimed]) or "nothing"


def _by_what_they_hand_out(nodes: list[NodePlan]) -> Iterator[str]:
    for what in dict.fromkeys(handed_out(node) for node in nodes):
        yield f"{what}: {', '.join(node.name for node in nodes if handed_out(node) == what)}"


def _cards(plan: Plan, nodes: list[NodePlan]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return a picture of each layout that these nodes ask for."""
    found = []
    for layout in plan.mig.layouts:
        using = [node for node in nodes if node.mig_layout == layout.name]
        if using:
            rows = [
                *picture(layout, using[0]),
                ("asked for as", layout.config),
                ("nodes", ", ".join(n.name for n in using)),
            ]
            found.append((f"layout {layout.name}", rows))
    return found


def _rails(plan: Plan, pool: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return the rails of a pool, one a line: port, device, interface, and what pods ask for and get there."""
    found = next((one for one in plan.fabric.pools if one.name == pool), None) if plan.fabric else None
    if found is None or plan.fabric is None:
        return []
    rows = [
        (
            f"rail {one.index}",
            "  ".join(filter(None, (one.pci, one.hca, one.interface, one.resource, one.network, one.subnet))),
        )
        for one in found.rails
    ]
    return [(f"rails of {pool} ({plan.fabric.mode})", rows)]


def _classes(plan: Plan, *names: str | None) -> list[tuple[str, list[tuple[str, str]]]]:
    return [
        (f"image class {one.name} (Talos {one.talos_version}, {one.architecture})", list(_image(one)))
        for one in plan.image.classes
        if one.name in names
    ]


def _image(one: ImageClass) -> Iterator[tuple[str, str]]:
    yield "schematic", one.schematic_id
    yield "installer", one.boot.installer
    yield "secure boot", "on" if one.secure_boot else f"off; with it: {one.boot.installer_secure_boot}"
    for what in ("iso", "disk", "pxe", "kernel", "initramfs", "cmdline", "uki"):
        yield what, getattr(one.boot, what)
    yield "driver", driver(one)
    yield "extensions", "\n".join(_extension(each) for each in one.extensions) or "none"
    arguments = zip(one.kernel_args, one.kernel_args_from, strict=True)
    yield "kernel args", "\n".join(f"{argument} ({path})" for argument, path in arguments) or "none"
    yield "modules", "\n".join(one.modules) or "none by name"
    yield "sysctls", "\n".join(one.sysctls) or "none"
    yield "document", one.schematic.rstrip()


def _extension(one: Extension) -> str:
    return " ".join(filter(None, (one.name.removeprefix("siderolabs/"), one.version, f"({one.reason})")))
