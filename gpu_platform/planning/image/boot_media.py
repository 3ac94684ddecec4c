"""Everything that a machine boots or is installed from, as the Image Factory names it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gpu_platform import facts
from gpu_platform.planning.model import Boot

if TYPE_CHECKING:
    from gpu_platform.settings.image import Factory


def boot(factory: Factory, identity: str, talos: str, arch: str, *, secure: bool) -> Boot:
    """Return references and URLs of one image; those of a secure-boot class are signed.

    A reference has no scheme; each names both architectures, URLs one.
    """
    row = facts.table("factory")
    platform, host = row["platform"], urlsplit(factory.url).netloc
    image, suffix = f"{factory.url}/image/{identity}/{talos}", "-secureboot" if secure else ""
    pxe = factory.pxe_url or (row["public_pxe"] if factory.url == row["public"] else factory.url)
    plain = f"{host}/{platform}-installer/{identity}:{talos}"
    signed = f"{host}/{platform}-installer-secureboot/{identity}:{talos}"
    return Boot(
        installer=signed if secure else plain,
        installer_secure_boot=signed,
        iso=f"{image}/{platform}-{arch}{suffix}.iso",
        disk=f"{image}/{platform}-{arch}{suffix}.{row['disk_suffix']}",
        pxe=f"{pxe}/pxe/{identity}/{talos}/{platform}-{arch}{suffix}",
        kernel=f"{image}/kernel-{arch}",
        initramfs=f"{image}/initramfs-{arch}.xz",
        cmdline=f"{image}/cmdline-{platform}-{arch}{suffix}",
        uki=f"{image}/{platform}-{arch}{suffix}-uki.efi",
    )
