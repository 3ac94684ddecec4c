"""TrainingQueue: Kueue, and who may use which cards in which order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from components.kubernetes import Cluster
    from gpu_platform.planning.model import Part


class TrainingQueue(pulumi.ComponentResource):
    """Starts gangs whole or not at all, and lends what models do not use."""

    done: pulumi.Output[list[str]]

    def __init__(self, name: str, part: Part, cluster: Cluster, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu-platform:index:TrainingQueue", name, {}, opts)
        self.done = cluster.emit(part, self)
        self.register_outputs({})
