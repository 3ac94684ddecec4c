"""What the schematic's provider asks of a factory, and the sentences that it answers with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gpu_platform.findings import did_you_mean
from gpu_platform.image_factory import FactoryError, ImageFactory
from gpu_platform.planning.schematic import SchematicError, canonical, parse, schematic_id

if TYPE_CHECKING:
    from collections.abc import Iterator

# One probe a process and release: a preview of many classes asks once, and an unreachable factory is told once.
_LISTS: dict[tuple[str, str], frozenset[str] | None] = {}
_TOLD: set[str] = set()


class SchematicMismatchError(Exception):
    """One sentence: the factory made something else of our document."""


def missing_extensions(factory: ImageFactory, props: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each extension that the Talos release does not have, as far as the factory can be asked."""
    wanted = parse(props["schematic"]).extensions
    known = _known(factory, props["factory_url"], props["talos_version"]) if wanted else None
    if known is None:
        return
    for name in wanted:
        if name not in known:
            fix = did_you_mean(name, known, otherwise="remove it, or choose another Talos release")
            yield f"{props['path']}: Talos {props['talos_version']} has no extension {name} at this factory; {fix}"


def _known(factory: ImageFactory, url: str, talos: str) -> frozenset[str] | None:
    if (url, talos) not in _LISTS:
        _LISTS[url, talos] = _ask(factory, url, talos)
    return _LISTS[url, talos]


def _ask(factory: ImageFactory, url: str, talos: str) -> frozenset[str] | None:
    if url in _TOLD:
        return None  # it was unreachable a moment ago
    try:
        found = factory.extensions(talos)
    except FactoryError as error:
        _TOLD.add(url)
        _tell(f"extensions are not checked: {error}")
        return None
    if found is None:
        _tell(f"extensions are not checked: the Image Factory does not offer Talos {talos}")
        return None
    return frozenset(one.name for one in found)


def _tell(sentence: str) -> None:
    sys.stderr.write(f"warning: {sentence}\n")
    sys.stderr.flush()


def register(factory: ImageFactory, props: dict[str, Any]) -> None:
    """Post the document; raises a sentence when the factory's ID or text for it is not ours."""
    posted = factory.post(props["schematic"])
    expected = schematic_id(props["schematic"])
    if posted.id == expected and posted.schematic in {None, props["schematic"]}:
        return
    if owner := _injected_owner(posted.schematic, props["schematic"]):
        raise SchematicMismatchError(
            f"{props['path']}: the factory puts an owner into every document, so that its IDs differ: "
            f"write image.factory.owner: {owner}"
        )
    raise SchematicMismatchError(
        f"{props['path']}: the factory's ID for this image is {posted.id}, the preview said {expected}: "
        "nothing was changed; check image.factory.url, and report both texts of the document if it is right"
    )


def _injected_owner(theirs: str | None, ours: str) -> str | None:
    """Return the owner when it is the only difference between the two documents."""
    try:
        one, other = parse(theirs or ""), parse(ours)
        without = canonical(type(one)(**{**one.__dict__, "owner": other.owner}))
    except SchematicError:
        return None
    return one.owner if one.owner != other.owner and without == ours else None


def restore(factory: ImageFactory, props: dict[str, Any]) -> None:
    """Register the document again when the factory does not know it any more."""
    if factory.get(schematic_id(props["schematic"])) is None:
        register(factory, props)
