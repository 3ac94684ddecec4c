"""The operators: when each is needed, with which values, what it reads, and which objects tell it of the pools."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gpu_platform.planning import allocation, counters, inventory, labels, partitions
from gpu_platform.planning.fabric import modes
from gpu_platform.planning.mig import objects as mig
from gpu_platform.planning.operators import amd, dra, fabric, gaudi, nfd, nvidia
from gpu_platform.planning.sharing import objects as sharing
from gpu_platform.planning.training import config, metal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gpu_platform.settings.inventory import Node, Pool
    from gpu_platform.settings.operators import Operator
    from gpu_platform.settings.root import Settings

    ConfigMaps = Callable[[Settings], Iterator[tuple[str, str, dict[str, str]]]]
    NodeLabels = Callable[[Settings, Pool, Node], dict[str, str]]


def _nothing(_settings: Settings, _namespace: str) -> Iterator[tuple[str, dict[str, Any]]]:
    return iter(())


@dataclass(frozen=True)
class Kind:
    """One operator: `after` names those that come first; `labels` are node labels by subject, for a vendor's pools."""

    needed: Callable[[Settings], bool]
    values: Callable[[Settings], dict[str, Any]]
    after: tuple[str, ...] = ()
    reads: tuple[ConfigMaps, ...] = ()
    objects: Callable[[Settings, str], Iterable[tuple[str, dict[str, Any]]]] = _nothing
    vendor: str = ""
    labels: tuple[tuple[str, NodeLabels], ...] = ()
    # The component that registers it.
    part: str = "gpu-operator"


def _has(vendor: str, settings: Settings) -> bool:
    return bool(inventory.of_vendor(settings, vendor))


def _claims(vendor: str, settings: Settings) -> bool:
    return bool(allocation.dra_pools(settings, vendor))


def _counts(vendor: str, settings: Settings) -> bool:
    return len(allocation.dra_pools(settings, vendor)) < len(inventory.of_vendor(settings, vendor))


def _fabric(operator: str) -> Callable[[Settings], bool]:
    return partial(modes.runs, operator=operator)


def _whereabouts(settings: Settings) -> bool:
    stated = settings.fabric.ipam if settings.fabric else ""
    return modes.present(settings) and stated == "whereabouts" and bool(modes.network(settings))


# In the order of installation; a name is that of the stack file and of the catalogue.
KINDS: dict[str, Kind] = {
    "nfd": Kind(lambda settings: bool(inventory.accelerated(settings)) or modes.present(settings), nfd.values),
    "gpu-operator": Kind(
        partial(_has, "nvidia"),
        nvidia.values,
        ("nfd",),
        (mig.config_maps, sharing.config_maps, counters.config_maps),
        vendor="nvidia",
        labels=(("mig", mig.node_labels), ("sharing", sharing.node_labels)),
    ),
    "dra-driver": Kind(
        partial(_claims, "nvidia"),
        dra.values,
        ("gpu-operator",),
        vendor="nvidia",
        labels=(("allocation", allocation.node_labels),),
    ),
    "rocm": Kind(
        partial(_has, "amd"),
        amd.values,
        ("nfd",),
        (partitions.config_maps,),
        amd.device_configs,
        vendor="amd",
        labels=(("labels", labels.outside_talos), ("partition", partitions.node_labels)),
    ),
    "network-operator": Kind(_fabric("network-operator"), fabric.values, ("nfd",), part="rdma-fabric"),
    "whereabouts": Kind(_whereabouts, fabric.whereabouts_values, part="rdma-fabric"),
    "dranet": Kind(_fabric("dranet"), fabric.dranet_values, part="rdma-fabric"),
    "kueue": Kind(metal.present, config.values, part="training-queue"),
    "gaudi": Kind(partial(_counts, "intel"), gaudi.values, ("nfd",)),
    "gaudi-dra": Kind(
        partial(_claims, "intel"),
        gaudi.dra_values,
        ("nfd",),
        vendor="intel",
        labels=(("allocation", allocation.node_labels),),
    ),
}


def wanted(settings: Settings) -> dict[str, Operator]:
    """Return the operators that this inventory needs, by name, in the order of installation."""
    if settings.operators is None or settings.gpu is None:
        return {}
    stated = {
        "nfd": settings.operators.nfd,
        "gpu-operator": settings.operators.gpu_operator,
        "dra-driver": settings.operators.dra_driver,
        "rocm": settings.operators.rocm,
        "network-operator": settings.operators.network_operator,
        "whereabouts": settings.operators.whereabouts,
        "dranet": settings.operators.dranet,
        "kueue": settings.operators.kueue,
        "gaudi": settings.operators.gaudi,
        "gaudi-dra": settings.operators.gaudi_dra,
    }
    return {name: stated[name] for name, kind in KINDS.items() if kind.needed(settings)}
