"""Image classes: one schematic for each set of nodes that boot alike, and everything that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning import inventory
from gpu_platform.planning.fabric import modes, virtual
from gpu_platform.planning.image import extensions
from gpu_platform.planning.image.boot_media import boot
from gpu_platform.planning.image.kernel_args import kernel_args, stated
from gpu_platform.planning.image.machine_config import documents, legacy, merge
from gpu_platform.planning.image.machine_needs import contributions
from gpu_platform.planning.image.options import Class
from gpu_platform.planning.model import ImageClass, ImagePlan
from gpu_platform.planning.schematic import Schematic, canonical, schematic_id

if TYPE_CHECKING:
    from gpu_platform.settings.root import Settings


def plan_image(settings: Settings) -> ImagePlan:
    """Return every image class; needs sections cluster, inventory and image."""
    assert settings.image is not None  # noqa: S101 - a broken section is an error finding, and then nothing is planned
    factory = settings.image.factory
    return ImagePlan(
        factory_url=factory.url,
        ca_file=factory.ca_file,
        username=factory.username,
        proxy_url=factory.proxy_url,
        mode="offline" if factory.mode == "offline" else None,
        timeout_seconds=factory.timeout_seconds,
        retries=factory.retries,
        prewarm="true" if settings.image.prewarm else None,
        classes=tuple(_plan(one) for one in classes(settings)),
    )


def classes(settings: Settings) -> list[Class]:
    """Return every class that a node boots, in the inventory's order; needs sections inventory and image."""
    image = settings.image
    found: dict[str, Class] = {}
    for name, pool in settings.inventory.pools.items() if settings.inventory and image else ():
        on_fabric = pool.nics and modes.present(settings)
        modules = tuple(modes.row(settings)["modules"]) if on_fabric else ()
        sysfs = tuple(virtual.sysfs(settings, pool).items()) if on_fabric else ()
        for node in pool.nodes.values():
            talos = inventory.talos_version(settings, pool, node)
            if image and talos and inventory.state(node)["image"]:
                key = inventory.image_class(settings, name, pool, node)
                found.setdefault(key, Class(key, name, pool, image, talos, modules, sysfs))
    return list(found.values())


def schematic(one: Class) -> Schematic:
    """Return the document of a class."""
    secure, overlay, embedded = one.secure_boot, one.overlay, one.embedded
    return Schematic(
        owner=one.image.factory.owner or "",
        overlay_image=overlay.image if overlay else "",
        overlay_name=overlay.name if overlay else "",
        overlay_options=tuple(sorted(overlay.options.items())) if overlay else (),
        embedded_machine_configuration=embedded.value if embedded else "",
        extra_kernel_args=kernel_args(one),
        meta=tuple((each.key, each.value) for each in one.meta),
        extensions=extensions.chosen(one),
        bootloader=one.bootloader,
        enroll_keys=(secure.enroll_keys or "") if secure else "",
        include_well_known_certificates=bool(secure and secure.include_well_known_certificates),
        sector_size=one.sector_size,
    )


def _plan(one: Class) -> ImageClass:
    text, arguments = canonical(schematic(one)), kernel_args(one)
    identity, names = schematic_id(text), extensions.chosen(one)
    secure = one.secure_boot is not None
    media = boot(one.image.factory, identity, one.talos, one.architecture, secure=secure)
    wanted, _ = merge(contributions(one))
    modules = one.kernel_modules
    return ImageClass(
        name=one.name,
        pool=one.pool_name,
        talos_version=one.talos,
        architecture=one.architecture,
        vendor=inventory.card(one.pool).get("vendor"),
        secure_boot=secure,
        reinstall="true" if one.pool.image.reinstall else None,
        schematic=text,
        schematic_id=identity,
        extensions=extensions.details(one),
        kernel_args=arguments,
        kernel_args_from=tuple(each.path for each in stated(one)),
        modules=tuple(" ".join((name, *parameters)) for name, parameters in sorted(wanted.modules.items())),
        sysctls=tuple(f"{key}={value}" for key, value in sorted(wanted.sysctls.items())),
        driver_branch=one.track if modules else None,
        driver_version=extensions.driver(names, one.talos),
        kernel_modules=modules,
        boot=media,
        documents="true" if one.documents else None,
        patch=_patch(one, media.installer),
    )


def _patch(one: Class, installer: str) -> str:
    wanted, _ = merge(contributions(one))
    return documents(wanted) if one.documents else legacy(one.talos, installer, wanted, bool(kernel_args(one)))
