"""The kernel arguments of a class, and who asks for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.planning.image.options import Stated
from gpu_platform.settings.base import minor

if TYPE_CHECKING:
    from gpu_platform.planning.image.options import Class


def stated(one: Class) -> list[Stated]:
    """Return every argument with the path that asks for it: the hardware's, the section's, the pool's own."""
    row = facts.table("machine")["arm64_nobti"]
    nobti = one.architecture == "arm64" and one.kernel_modules and minor(one.talos) >= minor(row["talos"] + ".0")
    written = one.stated_list("kernelArgs", "kernel_args")
    needed = nobti and not any(each.value == row["argument"] for each in written)
    return [*([Stated(f"{one.path}.gpu", row["argument"])] if needed else []), *written]


def kernel_args(one: Class) -> tuple[str, ...]:
    """Return the arguments in their order, none left out: hugepages= may stand twice and mean two things."""
    return tuple(each.value for each in stated(one))
