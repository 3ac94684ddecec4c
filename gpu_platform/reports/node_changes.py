"""What a change of the stack means to machines: which have to be upgraded, and what their images gain and lose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning.image import transitions
from gpu_platform.reports import device_changes, queue_changes
from gpu_platform.reports.device_changes import device_change
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.outputs import ImageClassOutput, NodeOutput, PlatformOutputs


@dataclass(frozen=True)
class NodeChange:
    """One machine and the one reason why it is touched."""

    name: str
    reason: str
    reboots: bool
    gpus: int


def grouped(changes: Iterable[NodeChange]) -> list[str]:
    """Return the lines of the comment: machines to which the same happens stand in one."""
    together: dict[tuple[bool, str], list[NodeChange]] = {}
    for one in changes:
        together.setdefault((one.reboots, one.reason), []).append(one)
    lines = []
    for (reboots, reason), those in together.items():
        gpus = sum(one.gpus for one in those)
        cards = f" ({gpus} GPUs)" if gpus else ""
        lines.append(f"{'**reboots** ' if reboots else ''}{', '.join(one.name for one in those)}{cards}: {reason}")
    return lines


@dataclass(frozen=True)
class ClassChange:
    """One image class: its schematic, extensions, driver and kernel arguments, old and new."""

    name: str
    schematic: str
    details: tuple[str, ...]

    def __str__(self) -> str:
        """Return the line of the comment."""
        return f"{self.name}: {self.schematic}" + "".join(f"; {one}" for one in self.details)


def node_changes(
    before: PlatformOutputs | None, after: PlatformOutputs | None, afresh: frozenset[str]
) -> tuple[NodeChange, ...]:
    """Return every machine that a change touches, those that reboot first; nothing when either side is unknown.

    Nodes of the classes in `afresh` are installed anew, not upgraded.
    """
    if before is None or after is None:
        return ()
    found = [
        change
        for name in dict.fromkeys((*before.nodes, *after.nodes))
        if (change := _node(name, before, after, afresh)) is not None
    ]
    return tuple(sorted(found, key=lambda one: not one.reboots))


def _node(name: str, before: PlatformOutputs, after: PlatformOutputs, afresh: frozenset[str]) -> NodeChange | None:
    old, new = before.nodes.get(name), after.nodes.get(name)
    if new is None:
        gpus = old.gpu_count if old else 0
        return NodeChange(name, "leaves the inventory; nothing switches it off", reboots=False, gpus=gpus)
    reason, reboots = _reason(old, new, before, after)
    if reboots and new.image_class in afresh:
        reason = f"is installed afresh from {new.installer}, its disk is lost"
    return NodeChange(name, reason, reboots, new.gpu_count) if reason else None


def _reason(
    old: NodeOutput | None, new: NodeOutput, before: PlatformOutputs, after: PlatformOutputs
) -> tuple[str | None, bool]:
    if new.installer is None:
        return _without_image(old, new)
    if old is None or old.installer is None:
        return f"is new: install it from {new.installer}", False
    cut, cut_reboots = device_change(old, new)
    if old.installer != new.installer:
        # Applying a configuration never re-images a machine; talosctl upgrade does, and that reboots it.
        return f"needs `talosctl upgrade --nodes ADDRESS --image {new.installer}`{f'; {cut}' if cut else ''}", True
    if cut:
        return cut, cut_reboots
    if _patch(old, before) != _patch(new, after):
        documents = facts.table("machine")["documents"]["talos"]
        talos = after.image_classes[new.image_class or ""].talos_version
        quiet = minor(talos) >= minor(f"{documents}.0")
        return f"gets a new machine configuration ({'no reboot' if quiet else 'Talos may reboot for it'})", False
    return (f"goes from {old.state} to {new.state}" if old.state != new.state else None), False


def _without_image(old: NodeOutput | None, new: NodeOutput) -> tuple[str | None, bool]:
    """Return what happens to a node that boots none of our images: not in yet, gone, or of another system."""
    if old is None or old.state != new.state:
        return f"is {new.state}: it gets no image", False
    return device_change(old, new)


def _patch(node: NodeOutput, outputs: PlatformOutputs) -> str | None:
    one = outputs.image_classes.get(node.image_class or "")
    return one.machine_config_patch if one else None


def class_changes(before: PlatformOutputs | None, after: PlatformOutputs | None) -> tuple[ClassChange, ...]:
    """Return every image class that is new, gone or different."""
    if after is None:
        return ()
    olds = before.image_classes if before else {}
    names = dict.fromkeys((*olds, *after.image_classes))
    changes = (_class(name, olds.get(name), after.image_classes.get(name)) for name in names)
    return tuple(one for one in changes if one is not None)


def _class(name: str, old: ImageClassOutput | None, new: ImageClassOutput | None) -> ClassChange | None:
    if new is None:
        return ClassChange(name, f"no node boots `{old.schematic_id[:12] if old else ''}` any more", ())
    if old is None:
        return ClassChange(name, f"new image `{new.installer}`", tuple(_contents(None, new)))
    if old.installer == new.installer:
        return None
    return ClassChange(name, f"`{old.installer}` → `{new.installer}`", tuple(_contents(old, new)))


def _contents(old: ImageClassOutput | None, new: ImageClassOutput) -> Iterator[str]:
    was = {one.name: one.version for one in old.extensions} if old else {}
    now = {one.name: one.version for one in new.extensions}
    for name in sorted({*was, *now}):
        short = name.removeprefix("siderolabs/")
        if name not in was:
            yield f"+{short} {now[name] or ''}".rstrip()
        elif name not in now:
            yield f"-{short}"
        elif was[name] != now[name]:
            yield f"{short} {was[name] or 'unknown'} → {now[name] or 'unknown'}"
    if old and _driver(old) != _driver(new):
        yield f"driver {_driver(old)} → {_driver(new)}"
    if old and old.secure_boot != new.secure_boot:
        yield f"secure boot {'on' if new.secure_boot else 'off'}"
    if old and old.kernel_args != new.kernel_args:
        yield f"kernel args `{' '.join(old.kernel_args) or 'none'}` → `{' '.join(new.kernel_args) or 'none'}`"


def _driver(one: ImageClassOutput) -> str:
    return (one.driver.version or "unknown") if one.driver else "none"


def impossible(
    before: PlatformOutputs | None, after: PlatformOutputs | None, afresh: frozenset[str]
) -> Iterator[Finding]:
    """Yield what no upgrade of nodes can do, and drivers that change; classes in `afresh` are installed anew."""
    if before is None or after is None:
        return
    yield from device_changes.impossible(before, after)
    yield from queue_changes.impossible(before.training, after.training)
    for name, new in after.image_classes.items():
        if old := before.image_classes.get(name):
            path = f"inventory.pools.{new.pool}"
            yield from transitions.findings(path, _boots(old), _boots(new), reinstall=name in afresh)


def _boots(one: ImageClassOutput) -> transitions.Boots:
    names = tuple(each.name for each in one.extensions)
    return transitions.Boots(one.talos_version, one.installer, names, one.machine_config_form == "documents")
