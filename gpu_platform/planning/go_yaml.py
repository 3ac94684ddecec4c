"""Scalars as the Image Factory's YAML library prints them, byte for byte.

Rules and vectors: facts of image-factory pkg/schematic (go.yaml.in/yaml/v4), compared with the factory's own code in
tests/engine. What one release of the library prints differently from another is refused by `unpredictable`.
"""

from __future__ import annotations

import datetime as dt
import re

INDENT = 4

_BOOLEANS_OF_YAML_1_1 = frozenset(
    ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "n", "N", "no", "No", "NO", "off", "Off", "OFF"]
)
_NOT_TEXT = frozenset(
    ["", "~", "null", "Null", "NULL", "true", "True", "TRUE", "false", "False", "FALSE", ".nan", ".NaN", ".NAN"]
)
_INFINITY = re.compile(r"[-+]?\.(inf|Inf|INF)")
_BASE_60 = re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?")
_INTEGER = re.compile(r"[-+]?(0[bB][01]+|0[oO]?[0-7]*|0[xX][0-9a-fA-F]{1,15}|[1-9][0-9]*)")
_LONG_HEXADECIMAL = re.compile(r"[-+]?0[xX][0-9a-fA-F_]{16,}|[-+]?0[bB][01_]{64,}|[-+]?0[oO]?[0-7_]{21,}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_DATE = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})")
_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}[Tt ].*", re.DOTALL)
_INDICATORS = "#,[]{}&*!|>'\"%@`"


def unpredictable(value: str) -> str | None:
    """Return why the bytes of `value` cannot be told beforehand, or None when they can."""
    if value in _BOOLEANS_OF_YAML_1_1 or value == "<<" or _BASE_60.fullmatch(value):
        return f"{value!r} is quoted differently from one release of the Image Factory to the next"
    if _TIMESTAMP.fullmatch(value) or _LONG_HEXADECIMAL.fullmatch(value):
        return f"{value!r} may be read as a time or a number"
    for character in value:
        if _odd(character):
            return f"the character U+{ord(character):04X} is printed differently from one release to the next"
    if "\n" in value and (value.startswith("\n") or "\t" in value):
        return "a text of several lines that begins with an empty one or holds tabs is printed differently"
    return None


def _odd(character: str) -> bool:
    code = ord(character)
    control = code < 0x20 and character not in "\n\t"
    return (
        control or 0x7F <= code < 0xA0 or code in {0x2028, 0x2029, 0xFEFF} or 0xD800 <= code < 0xE000 or code >= 0xFFFE
    )


def scalar(value: str, column: int) -> str:
    """Return `value` as a YAML scalar; lines of a block begin at `column`. Only for predictable values."""
    if "\n" in value:
        return _block(value, column) if _fits_block(value) else _double_quoted(value)
    if "\t" in value or reads_as_something_else(value):
        return _double_quoted(value)
    return f"'{value.replace(chr(39), chr(39) * 2)}'" if _needs_quotes(value) else value


def reads_as_something_else(value: str) -> bool:
    """Tell whether a plain `value` would be read as a number, a truth value, nothing, or a date."""
    plain = value.replace("_", "")
    number = value[:1] in set("0123456789+-.") and (_INTEGER.fullmatch(plain) or _FLOAT.fullmatch(plain))
    return value in _NOT_TEXT or bool(_INFINITY.fullmatch(value)) or bool(number) or _is_date(value)


def _is_date(value: str) -> bool:
    if not (found := _DATE.fullmatch(value)):
        return False
    try:
        dt.date(*map(int, found.groups()))
    except ValueError:
        return found.group(1) == "0000" and 1 <= int(found.group(2)) <= 12
    return True


def _needs_quotes(value: str) -> bool:
    return (
        value[0] in _INDICATORS
        or (value[0] in "-?:" and value[1:2] in {"", " "})
        or value.startswith(("---", "..."))
        or ": " in value
        or value.endswith(":")
        or " #" in value
        or value[0] == " "
        or value[-1] == " "
    )


def _fits_block(value: str) -> bool:
    return len(value) >= 2 and value.strip(" \n") != "" and not value.endswith(" ") and " \n" not in value


def _block(value: str, column: int) -> str:
    body = value.rstrip("\n")
    ending = len(value) - len(body)
    header = "|" + (str(INDENT) if value[0] == " " else "") + ("-" if ending == 0 else "" if ending == 1 else "+")
    lines = [" " * column + line if line else "" for line in body.split("\n")]
    return "\n".join([header, *lines, *[""] * (ending - 1)])


def _double_quoted(value: str) -> str:
    escapes = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\n": "\\n"}
    return '"' + "".join(escapes.get(character, character) for character in value) + '"'
