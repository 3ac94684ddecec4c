"""The base of every section and the small types that are parsed once, at the edge."""

from __future__ import annotations

import contextlib
import re
from typing import Annotated, Any, ClassVar
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_LABEL_PART = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")
_SEMVER = re.compile(r"v?(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(-[0-9A-Za-z.-]{1,40})?")


class Section(BaseModel):
    """A part of the stack file: camelCase keys, nothing unknown, nothing changed after it is read.

    `astray`: keys that people bring from elsewhere, with what is wrong with them, a colon, and what to write.
    """

    astray: ClassVar[dict[str, str]] = {}

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        populate_by_name=False,
        strict=True,
        hide_input_in_errors=True,
    )


def _quoted(value: Any) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        raise ValueError(f"YAML reads {value} as a number and may drop digits: write it in quotes")  # noqa: TRY004 - pydantic reports ValueErrors
    return value


def _version(value: str) -> str:
    if not _SEMVER.fullmatch(value):
        raise ValueError(f"{value!r} is not a version: write three numbers, such as v1.2.3")
    return "v" + value.removeprefix("v")


def _dns_label(value: str) -> str:
    if _DNS_LABEL.fullmatch(value):
        return value
    wish = re.sub(r"[^a-z0-9-]+", "-", value.lower()).strip("-")[:63].strip("-")
    suggestion = f"write {wish}" if wish else "write a name of lower-case letters, digits and '-'"
    raise ValueError(f"{value!r} is no DNS label (lower-case letters, digits, '-', at most 63): {suggestion}")


def _node_name(value: str) -> str:
    if len(value) <= 253 and all(_DNS_LABEL.fullmatch(part) for part in value.split(".")):
        return value
    wish = ".".join(re.sub(r"[^a-z0-9-]+", "-", part).strip("-") for part in value.lower().split(".") if part)
    raise ValueError(f"{value!r} is no node name (RFC 1123, lower case): write {wish or 'a name such as gpu-01'}")


def _label_value(value: str) -> str:
    if value == "" or _LABEL_PART.fullmatch(value):
        return value
    raise ValueError(f"{value!r} is no label value (letters, digits, '-', '_', '.', at most 63): write a shorter word")


def _label_key(value: str) -> str:
    prefix, _, name = value.rpartition("/")
    if _LABEL_PART.fullmatch(name) and all(_DNS_LABEL.fullmatch(part) for part in prefix.split(".") if prefix):
        return value
    raise ValueError(f"{value!r} is no label key: write name or prefix/name, of letters, digits, '-', '_' and '.'")


def _url(value: str) -> str:
    if re.fullmatch(r"https?://[^\s/@?#]+(/[^\s?#]*)?", value):
        with contextlib.suppress(ValueError):  # brackets or a port that are none
            parts = urlsplit(value)
            if parts.hostname and parts.port != 0:
                return value.rstrip("/")
    raise ValueError("this is no URL of the form https://host[:port][/path] without user name: write one")


Version = Annotated[str, BeforeValidator(_quoted), AfterValidator(_version)]
DnsLabel = Annotated[str, AfterValidator(_dns_label)]
NodeName = Annotated[str, AfterValidator(_node_name)]
LabelKey = Annotated[str, AfterValidator(_label_key)]
LabelValue = Annotated[str, BeforeValidator(_quoted), AfterValidator(_label_value)]
Url = Annotated[str, AfterValidator(_url)]
Text = Annotated[str, Field(min_length=1)]


def minor(version: str) -> tuple[int, int]:
    """Return (major, minor) of a version with or without a leading v."""
    first, second, *_ = version.removeprefix("v").split(".")
    return int(first), int(second)


def release(version: str) -> tuple[int, int, int]:
    """Return (major, minor, patch), the pre-release part left out."""
    first, second, third = version.removeprefix("v").split("-")[0].split(".")
    return int(first), int(second), int(third)
