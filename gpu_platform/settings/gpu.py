"""Section `gpu`: how cards are cut, and how they are watched."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gpu_platform.settings.base import DnsLabel, LabelKey, LabelValue, Section, Text

# As many GPUs as a node may have (Gpu.per_node).
_NUMBERS = re.compile(r"(1[0-5]|\d)(-(1[0-5]|\d))?(,(1[0-5]|\d)(-(1[0-5]|\d))?)*")


_RESOURCE = re.compile(r"gpu|mig-\d+g\.\d+gb([.+-][a-z.]+)?")

_PROFILE = re.compile(r"\d+g\.")

# More slices than any card has: what is above is refused as too many anyway.
_MOST = 32


def _by_gpu(value: Any) -> Any:
    """Take a list of profiles, or profiles with their counts, for the layout of every GPU of a node."""
    counted = isinstance(value, dict) and any(_PROFILE.match(str(name)) for name in value)
    if counted and (wrong := [name for name, count in value.items() if type(count) is not int or count < 1]):
        raise ValueError(f"how many {wrong[0]} does each GPU have: write a number from 1 on, or leave it out")
    listed = [name for name, count in value.items() for _ in range(min(count, _MOST))] if counted else value
    stated = {"all": listed} if isinstance(listed, list) else listed
    if not isinstance(stated, dict):
        return value
    return {key: tuple(one) if isinstance(one, list) else one for key, one in stated.items()}


def _gpus(value: str) -> str:
    ranges = [part.split("-") for part in value.split(",")] if _NUMBERS.fullmatch(value) else []
    if value == "all" or (ranges and all(int(one[0]) <= int(one[-1]) for one in ranges)):
        return value
    raise ValueError(f"{value!r} names no GPUs of a node: write all, 0, 0-3 or 0,2")


def _shared(value: str) -> str:
    if _RESOURCE.fullmatch(value):
        return value
    raise ValueError(f"{value!r} is no resource to share: write gpu, or a slice such as mig-1g.10gb")


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


class Sharing(Section):
    """One way of handing out the same card several times."""

    mode: Literal["timeSlicing", "mps"] = Field(
        description="timeSlicing: in turns, without any isolation; mps: at once, memory and threads split evenly"
    )
    replicas: Annotated[int, Field(ge=2, le=64)] | None = Field(
        None, description="how many pods share each GPU and each slice"
    )
    resources: dict[Annotated[str, AfterValidator(_shared)], Annotated[int, Field(ge=2, le=64)]] = Field(
        default_factory=dict, description="or by resource: gpu for whole cards, mig-1g.10gb for slices; others stay"
    )
    rename: bool = Field(False, description="call what is shared nvidia.com/gpu.shared, so that all know")
    fail_requests_greater_than_one: bool = Field(
        True, description="refuse pods that ask for two shares: they would not get twice as much"
    )

    @model_validator(mode="after")
    def _one(self) -> Sharing:
        if (self.replicas is None) == (not self.resources):
            raise ValueError("how often is what shared: write replicas, or resources with a number each")
        return self


class Dra(Section):
    """What NVIDIA's driver for Dynamic Resource Allocation does, for pools with allocation: dra."""

    compute_domains: bool = Field(False, description="offer ComputeDomains (NVLink across nodes of an NVL72 rack)")


class Dcgm(Section):
    """Which counters the DCGM exporter publishes."""

    counters: tuple[Text, ...] = Field((), description="counters beside those that are on by default, by DCGM name")
    without: tuple[Text, ...] = Field((), description="counters to leave out")


class GpuSettings(Section):
    """What the GPU operators hand out and how it is watched."""

    mig: Mig = Field(default_factory=Mig, description="cards that are cut into slices (MIG)")
    sharing: dict[DnsLabel, Sharing] = Field(
        default_factory=dict, description="ways of sharing by name; pools and nodes point at one"
    )
    dra: Dra = Field(default_factory=Dra, description="Dynamic Resource Allocation")
    dcgm: Dcgm = Field(default_factory=Dcgm, description="NVIDIA's metrics")
    service_monitor: bool = Field(False, description="create the exporters' ServiceMonitors; their CRD must exist")
    service_monitor_labels: dict[LabelKey, LabelValue] = Field(
        default_factory=dict, description="labels by which Prometheus picks ServiceMonitors, such as release"
    )
    validation_workload: bool = Field(False, description="let the operator's validator run a pod that takes a GPU")

    @model_validator(mode="after")
    def _monitors(self) -> GpuSettings:
        if self.service_monitor_labels and not self.service_monitor:
            raise ValueError(
                "serviceMonitorLabels are of ServiceMonitors that nobody makes: write serviceMonitor: true"
            )
        return self
