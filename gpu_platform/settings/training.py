"""Section `training`: who may use which cards, in which order, and what is lent while models sleep."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from gpu_platform.settings.base import DnsLabel, LabelKey, Section, Text

Count = Annotated[int, Field(ge=0, le=1_000_000)]


def _one_or_more(value: Any) -> Any:
    return (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list) else value


Names = Annotated[
    tuple[DnsLabel, ...],
    BeforeValidator(_one_or_more, json_schema_input_type=str | list[str]),
    Field(min_length=1),
]


class Preemption(Section):
    """Whom a waiting job of a queue may push aside."""

    within_queue: Literal["Never", "LowerPriority", "LowerOrNewerEqualPriority"] = Field(
        "LowerPriority", description="jobs of the same queue"
    )
    reclaim: Literal["Never", "LowerPriority", "Any"] = Field(
        "Any", description="jobs of other queues that use what belongs to this one"
    )
    borrow: Literal["Never", "LowerPriority"] = Field(
        "Never", description="jobs of other queues, to use what belongs to them"
    )


class Queue(Section):
    """One team's queue; its quota is its share of the pools' cards."""

    astray: ClassVar[dict[str, str]] = {
        "quota": "quota follows from the inventory: write share, or gpus",
        "nominalQuota": "quota follows from the inventory: write share, or gpus",
        "clusterQueue": "the queue's own name is that of its ClusterQueue: leave it out",
    }

    pools: Names = Field(description="pools of the inventory whose cards it uses")
    namespaces: Names = Field(description="namespaces of the team; each gets a LocalQueue of the queue's name")
    share: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        None, description="its part of what queues without gpus share, as a weight; default 1"
    )
    gpus: Count | None = Field(None, description="its cards of each pool, as a number instead of a share")
    strategy: Literal["StrictFIFO", "BestEffortFIFO"] = Field(
        "StrictFIFO", description="BestEffortFIFO lets small jobs overtake a gang for ever"
    )
    cohort: bool = Field(True, description="whether it may lend to and borrow from other queues of its pool")
    borrow: Count = Field(0, description="how many cards of others it may use while they are idle")
    lend: Count | None = Field(None, description="how many of its cards others may use while they are idle; default 0")
    preemption: Preemption = Field(default_factory=Preemption, description="whom its waiting jobs may push aside")
    hold: Literal["no", "hold", "drain"] = Field(
        "no", description="hold: start nothing more; drain: end what runs, too, to change what it stands on"
    )


class Lending(Section):
    """Cards of a pool that models need at times, and that training uses while they sleep."""

    floor: Annotated[int, Field(ge=1)] = Field(description="cards that belong to models")
    warm: Count = Field(0, description="cards of the floor that are never lent, for models that never sleep")
    namespaces: Names = Field(description="namespaces of models")
    scavengers: Names = Field(description="namespaces of jobs that may be ended at any time, and signed up for it")
    grace_seconds: Annotated[int, Field(ge=0, le=3600)] = Field(
        30, description="how long such a job has to save its work when a model wakes"
    )
    hold: Literal["no", "hold", "drain"] = Field("no", description="of both its queues, models' and scavengers'")


class Job(Section):
    """The shape of a job that a queue has to be able to run."""

    queue: DnsLabel = Field(description="its queue; or POOL-scavenger of a pool that is lent")
    nodes: Annotated[int, Field(ge=1, le=100_000)] = Field(1, description="how many nodes it runs on")
    gpus_per_node: Annotated[int, Field(ge=1, le=16)] | None = Field(None, description="default: all of a node")
    topology: Literal["required", "preferred", "none"] | None = Field(
        None,
        description="required: all nodes under one leaf, or it waits; preferred: as few leaves as possible; "
        "default: required where a leaf has as many nodes, else preferred",
    )
    start_minutes: Annotated[int, Field(ge=1, le=1440)] = Field(
        10, description="from admission until every pod is ready: image, weights"
    )
    longest_hours: Annotated[float, Field(gt=0, le=8760)] | None = Field(
        None, description="its longest run; others wait no longer for it"
    )
    resources: dict[LabelKey, Text] = Field(default_factory=dict, description="what its pods ask for besides cards")


class Training(Section):
    """Queues of teams over the cards of the inventory."""

    queues: dict[DnsLabel, Queue] = Field(default_factory=dict, description="queues by name")
    lend: dict[DnsLabel, Lending] = Field(default_factory=dict, description="by pool: what models need, and lend")
    jobs: dict[DnsLabel, Job] = Field(default_factory=dict, description="shapes of jobs, by name")
    priorities: dict[DnsLabel, Annotated[int, Field(ge=101, le=999)]] = Field(
        default_factory=lambda: {"urgent": 600, "normal": 500},
        description="priorities of jobs by name; inference (1000) and scavenger (100) come with lend",
    )
    start_timeout_minutes: Annotated[int, Field(ge=1, le=1440)] = Field(
        30, description="a gang whose pods are not all ready by then gives its cards back"
    )
    fair_sharing: bool = Field(
        False, description="share what is borrowed by weight, instead of first come, first served"
    )
    generations: dict[DnsLabel, Annotated[int, Field(ge=1, le=999)]] = Field(
        default_factory=dict,
        description="by pool: counts what cannot be changed in place (labels, taints, levels), and renames its flavor",
    )
    create_namespaces: bool = Field(False, description="make the namespaces of queues that the fabric does not make")
    guard: Literal["enforce", "audit", "off"] = Field(
        "enforce", description="whether pods may ask for cards past the queues"
    )
    exempt: Annotated[tuple[DnsLabel, ...], BeforeValidator(_one_or_more, json_schema_input_type=str | list[str])] = (
        Field((), description="namespaces that the guard leaves alone, beside those of operators")
    )

    @model_validator(mode="after")
    def _apart(self) -> Training:
        for pool in self.lend:
            for name in (f"{pool}-inference", f"{pool}-scavenger"):
                if name in self.queues:
                    raise ValueError(f"queue {name} is the name of what pool {pool} lends: give it another name")
        return self
