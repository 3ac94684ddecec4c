"""What a change of the stack means to cards: how each node hands them out, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.outputs import NodeOutput, PlatformOutputs

_RESTART = "kubectl delete pod -A -l dra-driver-nvidia-gpu-component=kubelet-plugin --field-selector spec.nodeName=NODE"


def device_change(old: NodeOutput, new: NodeOutput) -> tuple[str | None, bool]:
    """Return what a node's cards go through, in words, and whether it reboots for it; None where nothing happens."""
    if not _patched(new):
        return None, False
    cut, reboots = _cut(old, new)
    found = (cut, _allocated(old, new), _shared(old, new), _partitioned(old, new))
    return "; ".join(one for one in found if one) or None, reboots


def _patched(node: NodeOutput) -> bool:
    """Tell whether the node's labels follow this stack."""
    return bool(facts.table("node_states")[node.state]["patched"])


def _cut(old: NodeOutput, new: NodeOutput) -> tuple[str | None, bool]:
    """Cards that are cut anew: the manager fails while pods use them, and some cards want a reset."""
    before = old if _patched(old) else None
    if (before.mig_config if before else None) == new.mig_config:
        return None, False
    reboots = facts.table("gpus").get(new.gpu_model or "", {}).get("family") in facts.table("mig")["needs_reset"]
    layouts = f"{(before.mig_layout if before else None) or 'whole'} → {new.mig_layout or 'whole'}"
    text = f"its cards are cut anew, {layouts}: drain it first{', it reboots for it' if reboots else ''}"
    # A DRA driver looks for slices when it starts, and never again.
    restart = f", then `{_RESTART}`" if new.allocation == "dra" and not reboots else ""
    return text + restart, reboots


def _allocated(old: NodeOutput, new: NodeOutput) -> str | None:
    before = old.allocation if _patched(old) else "devicePlugin"
    if before == new.allocation:
        return None
    ways = {"dra": "claims (DRA)", "devicePlugin": "the device plugin"}
    return f"its cards go from {ways[before]} to {ways[new.allocation]}: drain it first, running pods would keep theirs"


def _shared(old: NodeOutput, new: NodeOutput) -> str | None:
    before = old.sharing if _patched(old) else None
    if before == new.sharing:
        return None
    return f"its cards are shared anew, {before or 'not'} → {new.sharing or 'not'}: its device plugin restarts"


def _partitioned(old: NodeOutput, new: NodeOutput) -> str | None:
    before = old.partition if _patched(old) else None
    if new.partition is None or before == new.partition:
        return None
    taint = facts.table("amd_partitions")["manager"]["taint"]
    told = f"{taint['key']}={taint['value']}:{taint['effect']}"
    return (
        f"its cards are partitioned anew, {before or 'as they are'} → {new.partition}: "
        f"taint it {told} before, and take the taint away after"
    )


def impossible(before: PlatformOutputs, after: PlatformOutputs) -> Iterator[Finding]:
    """Yield what would happen to all cards at once, or to none though the stack file says so."""
    yield from _edited_layouts(before, after)
    for name, new in after.nodes.items():
        old = before.nodes.get(name)
        if old and old.partition not in {None, "SPX/NPS1"} and new.partition is None and new.gpu_model == old.gpu_model:
            message = f"its cards stay {old.partition}: a label that is taken away changes nothing"
            path = f"inventory.pools.{new.pool}.nodes.{name}.partition"
            yield finding("GPU-016", path, message, "write partition: {} to have whole cards again")


def _edited_layouts(before: PlatformOutputs, after: PlatformOutputs) -> Iterator[Finding]:
    """Yield layouts that change under nodes that use them: all of their cards would be cut at once."""
    for name, new in after.mig.layouts.items():
        old = before.mig.layouts.get(name)
        using = [node for node, one in after.nodes.items() if one.mig_layout == name and _patched(one)]
        kept = [node for node in using if node in before.nodes and before.nodes[node].mig_layout == name]
        if old and old.config != new.config and kept:
            message = f"this layout is edited while {', '.join(kept)} use it: the cards of all would be cut at once"
            fix = "add it under another name, move nodes to it in waves, then remove the old one"
            yield finding("MIG-008", f"gpu.mig.layouts.{name}", message, fix)
