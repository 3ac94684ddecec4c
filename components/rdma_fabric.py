"""RdmaFabric: the network operator, rails, their networks and addresses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from components.kubernetes import Cluster
    from gpu_platform.planning.model import Part


class RdmaFabric(pulumi.ComponentResource):
    """Lets pods of different machines reach each other's GPUs."""

    done: pulumi.Output[list[str]]

    def __init__(self, name: str, part: Part, cluster: Cluster, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu-platform:index:RdmaFabric", name, {}, opts)
        self.done = cluster.emit(part, self)
        self.register_outputs({})
