"""What each part of a class needs of its machines: kernel modules, sysctls, labels, taints, containerd."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning import inventory, labels
from gpu_platform.planning.image import extensions
from gpu_platform.planning.image.machine_config import Contribution
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.planning.image.options import Class


def contributions(one: Class) -> Iterator[Contribution]:
    """Yield the needs of every part, those of the hardware before those that somebody wrote."""
    taints = tuple({"key": each.key, "value": each.value, "effect": each.effect} for each in one.pool.taints)
    yield Contribution(one.path, labels=labels.of_pool(one.pool_name, one.pool), taints=taints)
    yield from _nvidia(one)
    yield from _rdma(one)
    if one.default_runtime:
        yield Contribution(one.default_runtime.path, runtime=one.default_runtime.value)
    for path, options in (("image", one.image), (f"{one.path}.image", one.pool.image)):
        ours = one.pool.image if options is one.image else None
        yield Contribution(
            path,
            modules={name: value for name, value in options.modules.items() if not ours or name not in ours.modules},
            sysctls={name: value for name, value in options.sysctls.items() if not ours or name not in ours.sysctls},
        )


def _nvidia(one: Class) -> Iterator[Contribution]:
    rows = facts.table("machine")
    if not one.kernel_modules:
        return
    yield Contribution("the NVIDIA driver", modules=dict.fromkeys(rows["nvidia"]["modules"], ()))
    if inventory.card(one.pool).get("family") == "blackwell" and one.has_nvswitch:
        yield Contribution("the fabric manager", modules={rows["blackwell_hgx"]["module"]: ()})
    if rows["gdrdrv"]["extension"] in extensions.chosen(one):
        yield Contribution("GDRCopy", modules={rows["gdrdrv"]["module"]: tuple(rows["gdrdrv"]["parameters"])})
    harden = rows["bpf_jit_harden"]
    if minor(one.talos) <= minor(harden["until"] + ".0"):
        yield Contribution("the NVIDIA container toolkit", sysctls={harden["sysctl"]: harden["value"]})


def _rdma(one: Class) -> Iterator[Contribution]:
    if one.pool.nics:
        yield Contribution(
            "the fabric",
            modules=dict.fromkeys(one.fabric_modules, ()),
            sysfs=dict(one.fabric_sysfs),
            memlock=True,
        )
    for name in one.rdma:
        names = facts.table("machine")["rdma"][name].get("modules", ())
        yield Contribution(f"RDMA driver {name}", modules=dict.fromkeys(names, ()))
