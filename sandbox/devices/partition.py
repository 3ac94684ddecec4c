"""The MIG manager and the device plugin: whether cards can be cut as a label asks, and what is handed out."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from sandbox.devices.hardware import Card

WHOLE = "nvidia.com/gpu"
# The profiles of each card, None for one that is not cut.
Gpus = tuple["tuple[str, ...] | None", ...]
# What the driver keeps of a slice's memory for itself, MiB: 1g.5gb of an A100 has 4864. Nominal for other profiles and
# cards, whose slices lie as far or further below their names.
_KEPT = 256
_PROFILE = re.compile(r"(\d)g\.(\d+)gb([+-](?:me|me\.all|gfx))?")
_ENTRY = {"device-filter", "devices", "mig-enabled", "mig-devices"}


class CutError(Exception):
    """One sentence: why the manager fails, and the cards stay as they are."""


@dataclass(frozen=True)
class Cut:
    """What became of a request: the manager's state, the resources, and a sentence for people."""

    state: str
    resources: dict[str, str] = field(default_factory=dict)
    sentence: str = ""
    gpus: Gpus = ()


def cut(library: str | None, wanted: str, card: Card, count: int, strategy: str) -> Cut:
    """Return what a machine with `count` of these cards hands out when its label asks for `wanted`."""
    try:
        gpus = _assign(_entries(library, wanted), card, count)
    except CutError as error:
        return Cut("failed", {WHOLE: str(count)}, f"the MIG manager fails, the cards stay whole: {error}")
    return replace(_handed_out(gpus, strategy), gpus=tuple(None if one is None else tuple(one) for one in gpus))


def memory(card: Card, profile: str) -> int:
    """Return the memory of a slice in MiB as the driver tells it, below what its name says."""
    lanes = 8 if card.slices == 7 else card.slices
    part = _part(card, profile, lanes)
    return card.memory * (part[1] if part else lanes) // lanes - _KEPT


def _handed_out(gpus: list[list[str] | None], strategy: str) -> Cut:
    if strategy == "none":
        return Cut("success", {WHOLE: str(len(gpus))}, "MIG strategy none: slices are not handed out")
    if strategy == "single":
        return _single(gpus)
    found: Counter[str] = Counter()
    for profiles in gpus:
        # A card that is not cut is handed out whole; one that is cut into nothing, not at all.
        found.update([WHOLE] if profiles is None else [f"nvidia.com/mig-{one.replace('+', '.')}" for one in profiles])
    resources = {name: str(number) for name, number in sorted(found.items())}
    told = ", ".join(f"{number} {name.removeprefix('nvidia.com/')}" for name, number in resources.items())
    return Cut("success", resources, f"{told} published")


def _single(gpus: list[list[str] | None]) -> Cut:
    kinds = {one for profiles in gpus for one in profiles or ()}
    if any(not profiles for profiles in gpus) or len(kinds) != 1:
        if all(profiles is None for profiles in gpus):
            return Cut("success", {WHOLE: str(len(gpus))}, f"{len(gpus)} GPUs published")
        return Cut(
            "success", {}, "MIG strategy single needs one profile on every GPU: the device plugin hands out nothing"
        )
    number = sum(len(profiles or ()) for profiles in gpus)
    return Cut("success", {WHOLE: str(number)}, f"{number} slices published as GPUs")


def _entries(library: str | None, wanted: str) -> list[dict[str, Any]]:
    if library is None:
        raise CutError("the ConfigMap that the ClusterPolicy names for it is not there")
    try:
        content = yaml.safe_load(library)
    except yaml.YAMLError:
        content = None
    if not isinstance(content, dict) or set(content) != {"version", "mig-configs"} or content["version"] != "v1":
        raise CutError("its configuration is not one of version v1 with mig-configs")
    found = content["mig-configs"].get(wanted)
    if not found:
        raise CutError(f"its configuration has no {wanted}")
    for entry in found:
        if unknown := set(entry) - _ENTRY:
            raise CutError(f"unknown key {min(unknown)}")
        if bool(entry.get("mig-devices")) and not entry.get("mig-enabled"):
            raise CutError("mig-devices stand where MIG is not enabled")
    return list(found)


def _assign(entries: list[dict[str, Any]], card: Card, count: int) -> list[list[str] | None]:
    """Return the profiles of each card, None for one that is not cut."""
    gpus: list[list[str] | None] = [None] * count
    for entry in entries:
        devices = range(count) if entry["devices"] == "all" else entry["devices"]
        if not entry["mig-enabled"]:
            continue
        profiles = [name for name, number in entry["mig-devices"].items() for _ in range(number)]
        if not fits(card, profiles):
            raise CutError(f"{card.product} cannot be cut into {', '.join(profiles)}")
        for device in devices:
            if device >= count:
                raise CutError(f"there is no GPU {device}")
            gpus[device] = profiles
    return gpus


def fits(card: Card, profiles: list[str]) -> bool:
    """Tell whether a card can be cut so: every start is tried, as the driver does."""
    lanes = 8 if card.slices == 7 else card.slices
    parts = [_part(card, name, lanes) for name in profiles]
    if any(part is None for part in parts) or sum("+me" in name for name in profiles) > 1:
        return False
    known = sorted((part for part in parts if part), key=lambda part: -part[1])
    return sum(compute for compute, _ in known) <= card.slices and _place(
        [size for _, size in known], set(range(lanes))
    )


def _part(card: Card, name: str, lanes: int) -> tuple[int, int] | None:
    """Return compute slices and memory lanes of a profile, None for one that these cards do not have."""
    found = _PROFILE.fullmatch(name)
    if not found:
        return None
    compute, gigabytes = int(found[1]), int(found[2])
    size = round(gigabytes / (card.memory / 1024 / lanes))
    sizes = {1: (1, 2), 2: (2,), 3: (4,), 4: (4,), 7: (8,)} if card.slices == 7 else {1: (1,), 2: (2,), 4: (4,)}
    near = abs(gigabytes - size * card.memory / 1024 / lanes) <= max(1.5, gigabytes * 0.05)
    return (compute, size) if size in sizes.get(compute, ()) and near else None


def _place(sizes: list[int], free: set[int]) -> bool:
    if not sizes:
        return True
    first, *rest = sizes
    for start in range(0, 8, first):  # a profile starts at a multiple of its size
        lanes = set(range(start, start + first))
        if lanes <= free and _place(rest, free - lanes):
            return True
    return False
