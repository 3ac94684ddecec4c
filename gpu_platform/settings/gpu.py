"""Section `gpu`: how cards are cut, and how they are watched."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gpu_platform.settings.base import DnsLabel, Section, Text


def _for_all(value: Any) -> Any:
    """Take a plain list of profiles for the layout of every GPU of a node."""
    stated = {"all": value} if isinstance(value, list) else value
    if not isinstance(stated, dict):
        return value
    return {key: tuple(one) if isinstance(one, list) else one for key, one in stated.items()}


Layout = Annotated[
    dict[Annotated[str, Field(pattern=r"^(all|\d+(-\d+)?(,\d+(-\d+)?)*)$")], tuple[Text, ...]],
    BeforeValidator(_for_all, json_schema_input_type=dict[str, list[str]] | list[str]),
    Field(min_length=1),
]


class Mig(Section):
    """Named layouts of cards; pools and nodes point at one."""

    layouts: dict[DnsLabel, Layout] = Field(
        default_factory=dict,
        description="profiles of each GPU, names repeated for counts: a list for all GPUs of a node, or lists by GPU "
        "numbers such as 0-3; an empty one leaves a GPU whole",
    )
    strategy: Literal["mixed", "single"] | None = Field(
        None, description="how slices are called: mixed nvidia.com/mig-<profile> (default), single nvidia.com/gpu"
    )


class GpuSettings(Section):
    """What the GPU operator hands out and how it is watched."""

    mig: Mig = Field(default_factory=Mig, description="cards that are cut into slices (MIG)")
    service_monitor: bool = Field(False, description="create the DCGM exporter's ServiceMonitor; its CRD must exist")
    validation_workload: bool = Field(False, description="let the operator's validator run a pod that takes a GPU")
