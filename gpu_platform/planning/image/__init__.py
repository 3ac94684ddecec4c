"""Images: classes of nodes, what each image holds, what its machines must be told, and every rule for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning.image import rules_boot, rules_extensions, rules_hardware, rules_machine, rules_rollout
from gpu_platform.planning.image.classes import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.root import Settings


def findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with the images of every pool; what the section image says is wrong once."""
    if settings.inventory is None or settings.image is None:
        return
    yield from rules_boot.section(settings)
    yield from rules_rollout.findings(settings)
    reported: set[Finding] = set()
    for one in classes(settings):
        for rules in (rules_extensions, rules_hardware, rules_boot, rules_machine):
            for found in rules.findings(one):
                if found not in reported:
                    reported.add(found)
                    yield found
