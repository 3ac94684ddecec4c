"""What every part of the contract has in common."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

API_VERSION: Literal["gpu-platform/v1"] = "gpu-platform/v1"


class ContractError(ValueError):
    """One sentence: why a stack's outputs are not those of this contract."""


class Contract(BaseModel):
    """A part of the contract: camelCase on the wire; later versions may add keys, so unknown ones are ignored.

    Whatever may be null has a default: stack references drop keys whose value is null.
    """

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")
