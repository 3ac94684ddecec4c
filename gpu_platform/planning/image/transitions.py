"""From one image to the next: what an upgrade cannot do, and which driver changes on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_platform.findings import finding
from gpu_platform.planning.image import extensions
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding


@dataclass(frozen=True)
class Boots:
    """What the nodes of a class boot: release, installer, extensions, and whether their patch is one of documents."""

    talos: str
    installer: str
    extensions: tuple[str, ...]
    documents: bool = False

    @property
    def secure(self) -> bool:
        """Whether the installer is signed for secure boot."""
        return "-installer-secureboot/" in self.installer

    @property
    def driver(self) -> str | None:
        """The NVIDIA driver, where there is one and the facts know it."""
        return extensions.driver(self.extensions, self.talos)


def findings(path: str, old: Boots, new: Boots, *, reinstall: bool) -> Iterator[Finding]:
    """Yield what is wrong with going from one image to the next; `reinstall` says that nodes are installed afresh."""
    if not reinstall:
        yield from _impossible(path, old, new)
    if old.driver and new.driver and old.driver != new.driver:
        message = f"driver {old.driver} becomes {new.driver} (Talos {old.talos} to {new.talos})"
        yield finding("IMG-034", path, message, "check CUDA and NCCL of the images that run there")


def _impossible(path: str, old: Boots, new: Boots) -> Iterator[Finding]:
    if old.secure != new.secure:
        fix = "install them afresh and write image.reinstall: true"
        message = f"secure boot goes {'on' if new.secure else 'off'}, which no upgrade can do: nodes would not boot"
        yield finding("IMG-035", f"{path}.image.secureBoot", message, fix)
    if new.documents and not old.documents:
        message = (
            f"these machines were configured before Talos {new.talos.rpartition('.')[0]}: they refuse its documents"
        )
        yield finding("IMG-037", f"{path}.image.machineConfig", message, "write machineConfig: legacy")
    before, after = minor(old.talos), minor(new.talos)
    if before[0] != after[0] or not -1 <= after[1] - before[1] <= 1:
        message = f"Talos {old.talos} to {new.talos} skips a minor: upgrades go one minor at a time"
        between = f"{before[0]}.{before[1] + (1 if after > before else -1)}"
        fix = f"go through the newest {between} first, or write image.reinstall: true"
        yield finding("IMG-015", f"{path}.talosVersion", message, fix)
