"""GpuOperator: feature discovery and the vendors' operators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from components.kubernetes import Cluster
    from gpu_platform.planning.model import Part


class GpuOperator(pulumi.ComponentResource):
    """Makes the cluster see and hand out its GPUs."""

    done: pulumi.Output[list[str]]

    def __init__(self, name: str, part: Part, cluster: Cluster, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu-platform:index:GpuOperator", name, {}, opts)
        self.done = cluster.emit(part, self)
        self.register_outputs({})
