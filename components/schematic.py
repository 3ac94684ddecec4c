"""The resource of one Image Factory schematic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulumi.dynamic import Resource

from gpu_platform.providers.schematic import SchematicProvider

if TYPE_CHECKING:
    import pulumi

    from gpu_platform.planning.model import ImageClass, ImagePlan


class Schematic(Resource, module="gpu-platform", name="Schematic"):
    """The document of one image class, registered with the factory."""

    schematic_id: pulumi.Output[str]
    installer: pulumi.Output[str]
    installer_digest: pulumi.Output[str]

    def __init__(self, name: str, plan: ImagePlan, image: ImageClass, opts: pulumi.ResourceOptions) -> None:
        inputs = {
            "factory_url": plan.factory_url,
            "ca_file": plan.ca_file,
            "username": plan.username,
            "proxy_url": plan.proxy_url,
            "mode": plan.mode,
            "timeout_seconds": plan.timeout_seconds,
            "retries": plan.retries,
            "prewarm": plan.prewarm,
            "reinstall": image.reinstall,
            "documents": image.documents,
            "talos_version": image.talos_version,
            "schematic": image.schematic,
            "installer": image.boot.installer,
            "path": f"inventory.pools.{image.pool}",
            "schematic_id": None,
            "installer_digest": None,
        }
        super().__init__(SchematicProvider(), name, inputs, opts)
