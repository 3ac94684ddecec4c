"""What all-reduce must reach on this hardware, from published thresholds only."""

from __future__ import annotations

from dataclasses import dataclass

from gpu_platform import facts


@dataclass(frozen=True)
class Threshold:
    """Bus bandwidth in GB/s, None where nothing is published, and where it comes from or why there is none."""

    at_least: float | None
    reason: str


def inside(model: str, gpus: int) -> Threshold:
    """Return what all cards of one machine must reach among themselves."""
    row = facts.table("nccl")["model"].get(model)
    if row is None:
        return Threshold(None, f"measured, not judged: no threshold is published for {model}")
    if row["gpus"] != gpus:
        return Threshold(None, f"measured, not judged: the threshold of {model} is that of {row['gpus']} cards")
    return Threshold(row["at_least"], f"{row['at_least']:g} GB/s inside a machine: {row['source']}")


def between(model: str, gpus: int, device: str, rails: int) -> Threshold:
    """Return what machines must reach over their rails: a share of the line rate, at most what one reaches inside."""
    row = facts.table("nccl")["device"].get(device)
    if row is None:
        return Threshold(None, f"measured, not judged: no threshold is published for NICs of device {device}")
    most = inside(model, gpus).at_least
    switched = facts.table("gpus")[model].get("nvswitch_from")
    if most is None and (switched is None or gpus < switched):
        return Threshold(None, f"measured, not judged: {gpus} x {model} may be slower inside a machine than its rails")
    line = rails * row["gbit"] / 8
    share = round(line * row["share"], 1)
    if most is not None and most < share:
        return Threshold(most, f"{most:g} GB/s, which one machine reaches inside: less than its rails carry")
    of = f"{row['share']:.0%} of the line rate, {rails} x {row['gbit']} Gb/s"
    return Threshold(share, f"{share:g} GB/s: {of}: {row['source']}")
