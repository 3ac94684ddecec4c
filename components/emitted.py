"""What components have in common that register a part of the plan in a cluster, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulumi

if TYPE_CHECKING:
    from components.kubernetes import Cluster
    from gpu_platform.planning.model import Part


class Emitted(pulumi.ComponentResource):
    """A part of the plan, under the type of the class that is made of it; `done` has the URNs once all exist."""

    done: pulumi.Output[list[str]]

    def __init__(self, name: str, part: Part, cluster: Cluster, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(f"gpu-platform:index:{type(self).__name__}", name, {}, opts)
        self.done = cluster.emit(part, self)
        self.register_outputs({})
