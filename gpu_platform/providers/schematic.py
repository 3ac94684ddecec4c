"""The provider behind components/schematic.py. Module and class keep their names for ever: state refers to them."""

from __future__ import annotations

import sys
from typing import Any

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

from gpu_platform.image_factory import ImageFactory
from gpu_platform.planning.schematic import schematic_id
from gpu_platform.providers import factory_checks

# The inputs of which a change is one: the first two decide what the factory holds, the rest what is shown and checked.
DOMAIN = ("factory_url", "schematic", "installer", "talos_version", "path", "ca_file")


class SchematicProvider(ResourceProvider):
    """Keeps one document in an Image Factory.

    The document travels as text: structured inputs would arrive with floats in place of integers. Errors are sentences;
    the process prints no tracebacks.
    """

    serialize_as_secret_always = False

    def configure(self, req: ConfigureRequest) -> None:
        """Take the factory's token from the stack's secrets; it is kept in this process alone."""
        sys.tracebacklimit = 0
        self.token = req.config.get("gpu-platform:factoryToken") or req.config.get("factoryToken")

    def check(self, _olds: dict[str, Any], news: dict[str, Any]) -> CheckResult:
        """Add the ID, so that previews show it, and ask the factory for the release's extensions (once a process)."""
        if any(not isinstance(news.get(key), str) for key in ("schematic", "factory_url", "talos_version")):
            return CheckResult(news, [])  # in a preview: a value that is not known yet
        failures = [
            CheckFailure("schematic", reason) for reason in factory_checks.missing_extensions(self._probe(news), news)
        ]
        return CheckResult({**news, "schematic_id": schematic_id(news["schematic"])}, failures)

    def diff(self, _id: str, olds: dict[str, Any], news: dict[str, Any]) -> DiffResult:
        """Report a change of document or factory as an update in place: the class is the identity, the ID an output."""
        differs = any(olds.get(key) != news.get(key) for key in DOMAIN)
        return DiffResult(changes=differs, replaces=[], stables=[], delete_before_replace=False)

    def create(self, props: dict[str, Any]) -> CreateResult:
        """Register the document and insist on our ID and our text."""
        factory_checks.register(self._factory(props), props)
        return CreateResult(props["path"], props)

    def read(self, id_: str, props: dict[str, Any]) -> ReadResult:
        """Put a document back that the factory has lost; an unreachable factory is an error, never a deletion."""
        if props:
            factory_checks.restore(self._factory(props), props)
        return ReadResult(id_, props)

    def update(self, _id: str, _olds: dict[str, Any], news: dict[str, Any]) -> UpdateResult:
        """Register the new document; the old one stays in the factory for nodes that still boot it."""
        factory_checks.register(self._factory(news), news)
        return UpdateResult(news)

    def delete(self, _id: str, _props: dict[str, Any]) -> None:
        """Forget the document: factories delete nothing."""

    def _factory(self, props: dict[str, Any]) -> ImageFactory:
        return ImageFactory(props["factory_url"], token=getattr(self, "token", None), ca_file=props.get("ca_file"))

    def _probe(self, props: dict[str, Any]) -> ImageFactory:
        """Return a client for previews, which wait five seconds at most and never try twice."""
        token, ca_file = getattr(self, "token", None), props.get("ca_file")
        return ImageFactory(props["factory_url"], token=token, ca_file=ca_file, timeout=5.0, retries=0)
