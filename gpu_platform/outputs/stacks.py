"""How a stack hands its outputs out, and how another one reads them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gpu_platform.outputs.base import API_VERSION, ContractError
from gpu_platform.outputs.platform import PlatformOutputs

if TYPE_CHECKING:
    import pulumi


def export(
    outputs: PlatformOutputs, *, after: list[pulumi.Output[Any]], installer_digests: pulumi.Output[dict[str, str]]
) -> None:
    """Export every key of the contract once `after` is there: nobody reads what an `up` that failed did not make.

    `installer_digests`, by image class, is known only when the factory has built them.
    """
    import pulumi

    there = pulumi.Output.all(*after)
    for key, value in outputs.model_dump(by_alias=True, mode="json", exclude={"installer_digests"}).items():
        # The value stays out of Output.all, which would make an Output of each of a thousand nodes' labels.
        pulumi.export(key, there.apply(partial(_first, value)))
    pulumi.export("installerDigests", pulumi.Output.all(installer_digests, *after).apply(lambda values: values[0]))


def _first(value: Any, _after: Any) -> Any:
    return value


class PlatformReference:
    """Another stack's view of this one: `PlatformReference("organization/gpu-platform/prod").outputs`."""

    def __init__(self, stack: str) -> None:
        import pulumi

        keys = [info.alias or name for name, info in PlatformOutputs.model_fields.items()]
        reference = pulumi.StackReference(stack)
        found = pulumi.Output.all(**{key: reference.get_output(key) for key in keys})
        self.outputs: pulumi.Output[PlatformOutputs] = found.apply(self._parse)
        self._stack = stack

    def _parse(self, exported: dict[str, Any]) -> PlatformOutputs:
        import pulumi

        try:
            return parse(exported)
        except ContractError as error:
            raise pulumi.RunError(f"stack {self._stack}: {error}") from None


def parse(exported: dict[str, Any]) -> PlatformOutputs:
    """Return outputs as another stack or `pulumi stack output --json` has them; whole floats become ints again.

    Raises ContractError when they are of another contract.
    """
    version = exported.get("apiVersion")
    if version != API_VERSION:
        raise ContractError(f"it exports {version or 'no apiVersion'}, this reader knows {API_VERSION}")
    try:
        return PlatformOutputs.model_validate(exported)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ContractError(
            f"its output {where} is not of {API_VERSION} ({first['msg']}): run pulumi up there"
        ) from None
