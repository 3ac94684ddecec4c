"""Section `gpu`: how cards are cut, and how they are watched."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from gpu_platform.settings.base import DnsLabel, Section, Text

# As many GPUs as a node may have (Gpu.per_node).
_NUMBERS = re.compile(r"(1[0-5]|\d)(-(1[0-5]|\d))?(,(1[0-5]|\d)(-(1[0-5]|\d))?)*")


# More slices than any card has: what is above is refused as too many anyway.
_MOST = 32


def _by_gpu(value: Any) -> Any:
    """Take a list of profiles, or profiles with their counts, for the layout of every GPU of a node."""
    counted = isinstance(value, dict) and {type(one) for one in value.values()} == {int}
    listed = [name for name, count in value.items() for _ in range(min(count, _MOST))] if counted else value
    stated = {"all": listed} if isinstance(listed, list) else listed
    if not isinstance(stated, dict):
        return value
    return {key: tuple(one) if isinstance(one, list) else one for key, one in stated.items()}


def _gpus(value: str) -> str:
    if value == "all" or _NUMBERS.fullmatch(value):
        return value
    raise ValueError(f"{value!r} names no GPUs of a node: write all, 0, 0-3 or 0,2")


Layout = Annotated[
    dict[Annotated[str, AfterValidator(_gpus)], tuple[Text, ...]],
    BeforeValidator(_by_gpu, json_schema_input_type=dict[str, list[str] | int] | list[str]),
    Field(min_length=1),
]


class Mig(Section):
    """Named layouts of cards; pools and nodes point at one."""

    layouts: dict[DnsLabel, Layout] = Field(
        default_factory=dict,
        description="profiles of each GPU: a list for all GPUs of a node, names repeated for counts, or a mapping of "
        "profiles to counts, or lists by GPU numbers such as 0-3; an empty one leaves a GPU whole",
    )
    strategy: Literal["mixed", "single"] | None = Field(
        None, description="how slices are called: mixed nvidia.com/mig-<profile> (default), single nvidia.com/gpu"
    )


class GpuSettings(Section):
    """What the GPU operator hands out and how it is watched."""

    mig: Mig = Field(default_factory=Mig, description="cards that are cut into slices (MIG)")
    service_monitor: bool = Field(False, description="create the DCGM exporter's ServiceMonitor; its CRD must exist")
    validation_workload: bool = Field(False, description="let the operator's validator run a pod that takes a GPU")
