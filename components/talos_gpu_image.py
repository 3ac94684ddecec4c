"""TalosGpuImage: one schematic for each image class, registered with the Image Factory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pulumi

from components.schematic import Schematic

if TYPE_CHECKING:
    from gpu_platform.planning.model import ImagePlan


class TalosGpuImage(pulumi.ComponentResource):
    """Makes sure that the factory can build the image of every class."""

    schematic_ids: pulumi.Output[list[str]]
    installer_digests: pulumi.Output[dict[str, str]]

    def __init__(self, name: str, plan: ImagePlan, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("gpu-platform:index:TalosGpuImage", name, {}, opts)
        child = pulumi.ResourceOptions(parent=self)
        schematics = {one.name: Schematic(one.name, plan, one, child) for one in plan.classes}
        self.schematic_ids = pulumi.Output.all(*(one.schematic_id for one in schematics.values()))
        # Not Output.all: of no keywords it makes a list, and a stack may have no images yet.
        digests: dict[str, Any] = {name: one.installer_digest for name, one in schematics.items()}
        self.installer_digests = pulumi.Output.from_input(digests).apply(
            lambda found: {name: digest for name, digest in found.items() if digest}
        )
        self.register_outputs({"schematicIds": self.schematic_ids})
