"""Image classes: one schematic for each set of nodes that boot alike, and everything that follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning import extensions, inventory, labels
from gpu_platform.planning.machine_config import Contribution, merge, patch
from gpu_platform.planning.model import Boot, ImageClass, ImagePlan
from gpu_platform.planning.schematic import Schematic, canonical, schematic_id, unpredictable
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.image import Factory, Image
    from gpu_platform.settings.inventory import Pool
    from gpu_platform.settings.root import Settings

PUBLIC_FACTORY = "factory.talos.dev"
NVIDIA_MODULES = ("nvidia", "nvidia_drm", "nvidia_modeset", "nvidia_uvm")


def plan_image(settings: Settings) -> ImagePlan:
    """Return every image class; needs sections cluster, inventory and image."""
    assert settings.image is not None  # noqa: S101 - a broken section is an error finding, and then nothing is planned
    factory = settings.image.factory
    classes = tuple(_class(settings, *key) for key in _classes(settings))
    return ImagePlan(factory.url, factory.ca_file, classes)


def _classes(settings: Settings) -> list[tuple[str, str, Pool, str]]:
    """Return (class, pool name, pool, Talos release) of every class that a node boots, in the inventory's order."""
    found: dict[str, tuple[str, str, Pool, str]] = {}
    for name, pool in settings.inventory.pools.items() if settings.inventory else ():
        for node in pool.nodes.values():
            talos = inventory.talos_version(settings, pool, node)
            if talos and inventory.state(node)["image"]:
                key = inventory.image_class(settings, name, pool, node)
                found.setdefault(key, (key, name, pool, talos))
    return list(found.values())


def architecture(pool: Pool) -> str:
    """Return the pool's CPU architecture: its own, else its GPU model's, else amd64."""
    return pool.architecture or str(inventory.card(pool).get("architecture", "amd64"))


def kernel_args(image: Image, pool: Pool, talos: str) -> tuple[str, ...]:
    """Return the kernel arguments of a class in the order: needed by its hardware, shared, its pool's own."""
    nobti = facts.table("compat")["arm64_nobti"]
    needed: tuple[str, ...] = ()
    if (
        architecture(pool) == "arm64"
        and extensions.kernel_modules(pool)
        and minor(talos) >= minor(nobti["talos"] + ".0")
    ):
        needed = (nobti["argument"],)
    return tuple(dict.fromkeys((*needed, *image.kernel_args, *pool.image.kernel_args)))


def _class(settings: Settings, key: str, name: str, pool: Pool, talos: str) -> ImageClass:
    image = settings.image
    assert image is not None  # noqa: S101 - checked by plan_image
    names, arguments = extensions.chosen(image, pool), kernel_args(image, pool, talos)
    text = canonical(Schematic(owner=image.factory.owner or "", extra_kernel_args=arguments, extensions=names))
    identity = schematic_id(text)
    boot = _boot(image.factory, identity, talos, architecture(pool))
    wanted, _ = merge(_contributions(name, pool))
    modules = extensions.kernel_modules(pool)
    row, branch = extensions.talos_release(talos), extensions.track(image, pool) if modules else None
    return ImageClass(
        name=key,
        pool=name,
        talos_version=talos,
        architecture=architecture(pool),
        vendor=inventory.card(pool).get("vendor"),
        schematic=text,
        schematic_id=identity,
        extensions=extensions.versions(names, talos),
        kernel_args=arguments,
        driver_branch=branch,
        driver_version=row.get(branch) if row and branch else None,
        kernel_modules=modules,
        boot=boot,
        patch=patch(talos, boot.installer, wanted, kernel_args=bool(arguments)),
    )


def _contributions(name: str, pool: Pool) -> Iterator[Contribution]:
    taints = tuple({"key": one.key, "value": one.value, "effect": one.effect} for one in pool.taints)
    yield Contribution("inventory", labels=labels.of_pool(name, pool), taints=taints)
    if extensions.kernel_modules(pool):
        # Extensions never load modules, and the boot waits 70 minutes for them (siderolabs/extensions#888).
        yield Contribution("driver", modules=dict.fromkeys(NVIDIA_MODULES, ()))
    if inventory.card(pool).get("family") == "blackwell" and extensions.has_nvswitch(pool):
        yield Contribution("fabric manager", modules={facts.table("compat")["blackwell_hgx"]["module"]: ()})


def _boot(factory: Factory, identity: str, talos: str, arch: str) -> Boot:
    host, image = urlsplit(factory.url).netloc, f"{factory.url}/image/{identity}/{talos}"
    own_pxe = f"https://pxe.{PUBLIC_FACTORY}" if host == PUBLIC_FACTORY else factory.url
    return Boot(
        installer=f"{host}/metal-installer/{identity}:{talos}",
        installer_secure_boot=f"{host}/metal-installer-secureboot/{identity}:{talos}",
        iso=f"{image}/metal-{arch}.iso",
        disk=f"{image}/metal-{arch}.raw.zst",
        pxe=f"{factory.pxe_url or own_pxe}/pxe/{identity}/{talos}/metal-{arch}",
        kernel=f"{image}/kernel-{arch}",
        initramfs=f"{image}/initramfs-{arch}.xz",
    )


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the images of every pool."""
    if settings.inventory is None or settings.image is None:
        return
    for index, argument in enumerate(settings.image.kernel_args):
        yield from _predictable(f"image.kernelArgs[{index}]", argument)
    for index, name in enumerate(settings.image.extensions):
        yield from _predictable(f"image.extensions[{index}]", name)
    if settings.image.factory.owner:
        yield from _predictable("image.factory.owner", settings.image.factory.owner)
    for name, pool in settings.inventory.pools.items():
        path = f"inventory.pools.{name}"
        for index, argument in enumerate(pool.image.kernel_args):
            yield from _predictable(f"{path}.image.kernelArgs[{index}]", argument)
        yield from _keys(path, pool)
    reported: set[Finding] = set()
    for key, name, pool, talos in _classes(settings):
        _ = key
        for one in extensions.findings(f"inventory.pools.{name}", settings.image, pool, talos):
            if one not in reported:  # what the section image says is wrong once, however many classes share it
                reported.add(one)
                yield one


def _predictable(path: str, value: str) -> Iterator[Finding]:
    if reason := unpredictable(value):
        yield finding("IMG-005", path, reason, "write it in another way, or leave it out")


def _keys(path: str, pool: Pool) -> Iterator[Finding]:
    named = [(f"{path}.labels.{key}", key) for key in pool.labels]
    named += [(f"{path}.taints[{index}].key", taint.key) for index, taint in enumerate(pool.taints)]
    for where, key in named:
        if why := labels.trouble(key):
            yield finding(
                "IMG-008",
                where,
                f"nodes cannot carry {key!r}: {why}",
                "write a prefix of your own, such as example.com/",
            )
