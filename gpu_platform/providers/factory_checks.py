"""What the schematic's provider asks of a factory, and the sentences that it answers with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from gpu_platform.findings import Severity, did_you_mean
from gpu_platform.image_factory import FactoryError, ImageFactory
from gpu_platform.installers import build
from gpu_platform.planning.image import transitions
from gpu_platform.planning.schematic import SchematicError, canonical, schematic_id
from gpu_platform.planning.schematic_reader import parse
from gpu_platform.settings.base import release

if TYPE_CHECKING:
    from collections.abc import Iterator

# One probe a process and release: a preview of many classes asks once, and an unreachable factory is told once.
_LISTS: dict[tuple[str, str], frozenset[str] | str | None] = {}
_TOLD: set[str] = set()


class SchematicMismatchError(Exception):
    """One sentence: the factory made something else of our document."""


def impossible(olds: dict[str, Any], news: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for everything that no upgrade can do; what it does change is told."""
    if not all(isinstance(olds.get(key), str) for key in ("schematic", "installer", "talos_version", "path")):
        return
    for one in transitions.findings(news["path"], _boots(olds), _boots(news), reinstall=bool(news.get("reinstall"))):
        if one.severity is Severity.ERROR:
            yield f"{one.path}: {one.message}; {one.fix} ({one.rule})"
        else:
            _tell(f"{one.path}: {one.message}; {one.fix} ({one.rule})")


def _boots(props: dict[str, Any]) -> transitions.Boots:
    try:
        names = parse(props["schematic"]).extensions
    except SchematicError:
        names = ()  # written by another version of this program
    return transitions.Boots(props["talos_version"], props["installer"], names, bool(props.get("documents")))


def not_there(factory: ImageFactory, props: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for the release, or each extension of it, that the factory does not have, if it can be asked."""
    if props.get("mode"):
        return
    talos = props["talos_version"]
    known = _known(factory, props["factory_url"], talos)
    if isinstance(known, str):
        yield f"{props['path']}: {known}"
        return
    for name in parse(props["schematic"]).extensions if known else ():
        if known is not None and name not in known:
            fix = did_you_mean(name, known, otherwise="remove it, or choose another Talos release")
            yield f"{props['path']}: Talos {talos} has no extension {name} at this factory; {fix}"


def _known(factory: ImageFactory, url: str, talos: str) -> frozenset[str] | str | None:
    if (url, talos) not in _LISTS:
        _LISTS[url, talos] = _ask(factory, url, talos)
    return _LISTS[url, talos]


def _ask(factory: ImageFactory, url: str, talos: str) -> frozenset[str] | str | None:
    """Return the release's extensions, a sentence when the factory does not build it, None when it cannot be asked."""
    if url in _TOLD:
        return None  # it was unreachable a moment ago
    try:
        found = factory.extensions(talos)
        if found is None:
            return _no_release(factory, talos)
    except FactoryError as error:
        _TOLD.add(url)
        _tell(f"extensions are not checked: {error}")
        return None
    return frozenset(one.name for one in found)


def _no_release(factory: ImageFactory, talos: str) -> str:
    versions = factory.versions()
    near = sorted((one for one in versions if _same_minor(one, talos)), key=release)
    wish = f"its newest of that minor is {near[-1]}" if near else "it has none of that minor"
    return (
        f"the Image Factory {factory.host} does not build Talos {talos} ({wish}): write one that it has, "
        "or wait until it has read a release that is new"
    )


def _same_minor(one: str, other: str) -> bool:
    return one.removeprefix("v").split(".")[:2] == other.removeprefix("v").split(".")[:2]


def _tell(sentence: str) -> None:
    sys.stderr.write(f"warning: {sentence}\n")
    sys.stderr.flush()


def provide(factory: ImageFactory, props: dict[str, Any]) -> dict[str, Any]:
    """Register the document, have its installer built where that is wanted, and return what is known then."""
    if props.get("mode"):
        return {**props, "installer_digest": ""}
    register(factory, props)
    return {**props, "installer_digest": build(factory, props["installer"], _tell) if props.get("prewarm") else ""}


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
    if not props.get("mode") and factory.get(schematic_id(props["schematic"])) is None:
        register(factory, props)
