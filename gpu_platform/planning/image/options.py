"""What a class asks of its image: the section's options and its pool's, as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning import inventory
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from gpu_platform.settings.image import Image, Meta, Overlay, SecureBoot
    from gpu_platform.settings.inventory import Pool


@dataclass(frozen=True)
class Stated:
    """A value and the path at which somebody wrote it."""

    path: str
    value: str


@dataclass(frozen=True)
class Class:
    """One image class before it is worked out: its pool, its Talos release, its options."""

    name: str
    pool_name: str
    pool: Pool
    image: Image
    talos: str
    fabric_modules: tuple[str, ...] = ()
    fabric_sysfs: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        """The pool's path in the stack file."""
        return f"inventory.pools.{self.pool_name}"

    @property
    def architecture(self) -> str:
        """The CPU architecture: the pool's own, else its GPU model's, else amd64."""
        return self.pool.architecture or str(inventory.card(self.pool).get("architecture", "amd64"))

    @property
    def track(self) -> str:
        """The NVIDIA driver branch: production or lts."""
        return self.pool.image.driver_track or self.image.driver_track or "production"

    @property
    def kernel_modules(self) -> str | None:
        """Open or proprietary for NVIDIA cards, None for others: what is stated, else what the cards need."""
        needs = inventory.card(self.pool).get("modules")
        if needs is None:
            return None
        return self.pool.image.kernel_modules or self.image.kernel_modules or str(needs).removesuffix("-only")

    @property
    def has_nvswitch(self) -> bool:
        """Whether the boards have NVSwitches, which need the fabric manager."""
        start = inventory.card(self.pool).get("nvswitch_from")
        return start is not None and inventory.per_node(self.pool) >= int(start)

    @property
    def secure_boot(self) -> SecureBoot | None:
        """The secure-boot options of a class that boots signed images, else None."""
        stated = self.pool.image.secure_boot or self.image.secure_boot
        return stated if stated and stated.enabled else None

    @property
    def bootloader(self) -> str:
        """The boot loader of ISO and disk images, empty for the factory's own choice (it refuses the word auto)."""
        stated = self.pool.image.bootloader or self.image.bootloader or "auto"
        return "" if stated == "auto" else stated

    @property
    def overlay(self) -> Overlay | None:
        """The board's overlay."""
        return self.pool.image.overlay or self.image.overlay

    @property
    def sector_size(self) -> int:
        """The sector size of disk images in bytes, 0 for the factory's own choice."""
        return self.pool.image.disk_sector_size or self.image.disk_sector_size or 0

    @property
    def embedded(self) -> Stated | None:
        """The machine configuration inside ISO, disk and PXE images."""
        return self._one("embeddedMachineConfiguration", "embedded_machine_configuration")

    @property
    def default_runtime(self) -> Stated | None:
        """Containerd's default runtime."""
        return self._one("defaultRuntime", "default_runtime")

    @property
    def documents(self) -> bool:
        """Whether the patch is one of documents: what is stated, else by the release."""
        stated = self.pool.image.machine_config or self.image.machine_config
        since = facts.table("machine")["documents"]["talos"]
        return stated == "documents" if stated else minor(self.talos) >= minor(f"{since}.0")

    @property
    def meta(self) -> tuple[Meta, ...]:
        """The META values, the section's first; a key that the pool gives replaces the section's."""
        own = {one.key for one in self.pool.image.meta}
        return (*(one for one in self.image.meta if one.key not in own), *self.pool.image.meta)

    @property
    def rdma(self) -> tuple[str, ...]:
        """The RDMA drivers of the NICs, each once."""
        ours = ("mlx5",) if self.pool.nics else ()
        return tuple(dict.fromkeys((*ours, *self.image.rdma, *self.pool.image.rdma)))

    def stated_list(self, key: str, field: str) -> list[Stated]:
        """Return the entries of a list option with their paths, the section's first."""
        both = (("image", self.image), (f"{self.path}.image", self.pool.image))
        return [
            Stated(f"{where}.{key}[{index}]", value)
            for where, options in both
            for index, value in enumerate(getattr(options, field))
        ]

    def _one(self, key: str, field: str) -> Stated | None:
        both = ((f"{self.path}.image", self.pool.image), ("image", self.image))
        return next(
            (Stated(f"{where}.{key}", value) for where, options in both if (value := getattr(options, field))), None
        )
