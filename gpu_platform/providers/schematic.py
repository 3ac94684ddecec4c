"""The provider behind components/schematic.py. Module and class keep their names for ever: state refers to them."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from pulumi.dynamic import (
    CheckFailure,
    CheckResult,
    ConfigureRequest,
    CreateResult,
    DiffResult,
    ReadResult,
    ResourceProvider,
    UpdateResult,
)

from gpu_platform.planning.schematic import schematic_id

if TYPE_CHECKING:
    from types import ModuleType

    from gpu_platform.image_factory import Access, ImageFactory

# The inputs of which a change is one: the first two decide what the factory holds, the rest what is shown and checked,
# and how the factory is reached.
DOMAIN = (
    "factory_url",
    "schematic",
    "installer",
    "talos_version",
    "path",
    "ca_file",
    "username",
    "proxy_url",
    "mode",
    "timeout_seconds",
    "retries",
    "prewarm",
)


def _checks() -> ModuleType:
    """Return the module that talks to factories; the program, which only names the provider, starts without it."""
    from gpu_platform.providers import factory_checks

    return factory_checks


class SchematicProvider(ResourceProvider):
    """Keeps one document in an Image Factory.

    The document travels as text: structured inputs would arrive with floats in place of integers. Errors are sentences;
    the process prints no tracebacks.
    """

    serialize_as_secret_always = False

    def configure(self, req: ConfigureRequest) -> None:
        """Take the factory's credentials from the stack's secrets; they are kept in this process alone."""
        sys.tracebacklimit = 0
        secrets = (req.config.get(f"gpu-platform:{key}") for key in ("factoryToken", "factoryPassword"))
        self.password = next((secret for secret in secrets if secret), None)

    def check(self, olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        """Add the ID, so that previews show it, and refuse what the factory or an upgrade cannot do."""
        if any(not isinstance(news.get(key), str) for key in ("schematic", "factory_url", "talos_version")):
            return CheckResult(news, [])  # in a preview: a value that is not known yet
        reasons = [*_checks().impossible(olds, news), *_checks().not_there(self._probe(news), news)]
        known = {"schematic_id": schematic_id(news["schematic"])}
        known |= {} if news.get("prewarm") else {"installer_digest": ""}
        return CheckResult({**news, **known}, [CheckFailure("schematic", reason) for reason in reasons])

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        """Report a change of document or factory as an update in place: the class is the identity, the ID an output."""
        differs = any(olds.get(key) != news.get(key) for key in DOMAIN)
        return DiffResult(changes=differs, replaces=[], stables=[], delete_before_replace=False)

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Register the document and insist on our ID and our text; have the installer built where that is wanted."""
        return CreateResult(props["path"], _checks().provide(self._factory(props), props))

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        """Put a document back that the factory has lost; an unreachable factory is an error, never a deletion."""
        if props:
            _checks().restore(self._factory(props), props)
        return ReadResult(id_, props)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        """Register the new document; the old one stays in the factory for nodes that still boot it."""
        return UpdateResult(_checks().provide(self._factory(news), news))

    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        """Forget the document: factories delete nothing."""

    def _factory(self, props: dict[str, Any]) -> ImageFactory:
        from gpu_platform.image_factory import ImageFactory

        return ImageFactory(self._access(props))

    def _probe(self, props: dict[str, Any]) -> ImageFactory:
        """Return a client for previews, which wait five seconds at most and never try twice."""
        from gpu_platform.image_factory import ImageFactory

        return ImageFactory(dataclasses.replace(self._access(props), timeout=5.0, retries=0))

    def _access(self, props: dict[str, Any]) -> Access:
        from gpu_platform.image_factory import Access

        stated = {"timeout": props.get("timeout_seconds"), "retries": props.get("retries")}
        return Access(
            props["factory_url"],
            username=props.get("username"),
            password=getattr(self, "password", None),
            ca_file=props.get("ca_file"),
            proxy_url=props.get("proxy_url"),
            # Numbers of dynamic providers arrive as floats.
            **{key: int(value) for key, value in stated.items() if value is not None},
        )
