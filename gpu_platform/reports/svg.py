"""What an SVG is made of here: elements, texts that fit and are legal XML, colours that everybody can tell apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterable

# Letters are of one width, so that a text's length is known without the reader's fonts: 12 px make at most this.
CHAR = 7.3
FONT = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,monospace"

# Okabe and Ito's palette, which survives every colour blindness; black and yellow are told for light and for dark.
# Second of each pair: the number on it.
LIGHT = (
    ("#0072b2", "#fff"),
    ("#e69f00", "#000"),
    ("#009e73", "#000"),
    ("#cc79a7", "#000"),
    ("#56b4e9", "#000"),
    ("#d55e00", "#000"),
    ("#24292f", "#fff"),
    ("#806600", "#fff"),
)
DARK = {0: ("#2f8fd0", "#000"), 6: ("#e6edf3", "#000"), 7: ("#f0e442", "#000")}

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def document(width: float, height: float, name: str) -> ET.Element:
    """Return an empty picture with its style; its background makes it readable wherever it is shown."""
    size = {"width": number(width), "height": number(height), "viewBox": f"0 0 {number(width)} {number(height)}"}
    root = ET.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", "role": "img", **size})
    element(root, "title", text=name)
    element(root, "style", text=_style())
    element(root, "rect", {"class": "ground", "width": "100%", "height": "100%"})
    return root


def element(
    parent: ET.Element, tag: str, attributes: dict[str, str | float] | None = None, text: str | None = None
) -> ET.Element:
    """Append an element and return it."""
    values = {key: one if isinstance(one, str) else number(one) for key, one in (attributes or {}).items()}
    made = ET.SubElement(parent, tag, {key: legal(one) for key, one in values.items()})
    made.text = None if text is None else legal(text)
    return made


def write(
    parent: ET.Element, x: float, y: float, text: str, *, style: str = "", whole: str = "", size: int = 40
) -> None:
    """Write a text whose middle is at y; one that is cut says all of itself, or what is given, when pointed at."""
    shown = short(text, size)
    told = whole or (text if shown != text else "")
    at: dict[str, str | float] = {**({"class": style} if style else {}), "x": x, "y": y + 4}
    if not told:
        element(parent, "text", at, shown)
        return
    group = element(parent, "g")
    element(group, "title", text=told)
    element(group, "text", at, shown)


def short(text: str, size: int = 40) -> str:
    """Return a text of at most so many letters: what is cut is its middle, since names differ at their ends."""
    if len(text) <= size:
        return text
    head = (size - 1) // 2
    return f"{text[:head]}…{text[len(text) - (size - 1 - head) :]}"


def wide(texts: Iterable[str], size: int = 40) -> float:
    """Return the width of the widest of these texts as they are shown."""
    return CHAR * max((len(short(one, size)) for one in texts), default=0)


def legal(text: str) -> str:
    """Return a text without the characters that no XML document may hold, however escaped."""
    return _ILLEGAL.sub("\ufffd", text)


def number(value: float) -> str:
    """Return a coordinate, never longer than it must be."""
    return f"{value:.1f}".removesuffix(".0")


def as_text(root: ET.Element) -> str:
    """Return the file, an element a line, so that two versions can be compared."""
    ET.indent(root, space="")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _style() -> str:
    light = [_rail(index, *pair) for index, pair in enumerate(LIGHT)]
    dark = [_rail(index, *pair) for index, pair in DARK.items()]
    lines = [
        f"text{{font:12px {FONT};fill:#24292f;white-space:pre}}",
        ".ground{fill:#fff}.dim{fill:#57606a}.bold{font-weight:bold}.big{font-size:16px;font-weight:bold}",
        ".warn{fill:#a33c00;font-weight:bold}.mid{text-anchor:middle;font-size:10px}",
        ".box{fill:#f6f8fa;stroke:#8c959f}.rack{stroke:#8c959f;stroke-width:2}.none{stroke-dasharray:4 3}",
        "path{fill:none}.wire{stroke-width:1.3}.loose{stroke:#8c959f;stroke-dasharray:1 4}",
        *light,
        ".off rect{fill-opacity:0;stroke-dasharray:2 2}.off text{fill:#57606a}",
        "path.off{stroke-dasharray:3 3;stroke-opacity:.55}",
        "@media (prefers-color-scheme:dark){",
        "text{fill:#e6edf3}.ground{fill:#0d1117}.dim,.off text{fill:#9da7b3}.warn{fill:#ffa657}",
        ".box{fill:#161b22;stroke:#6e7681}.rack,.loose{stroke:#6e7681}",
        *dark,
        ".off rect{fill-opacity:0}.off text{fill:#9da7b3}",
        "}",
    ]
    return "\n" + "\n".join(lines) + "\n"


def _rail(index: int, colour: str, ink: str) -> str:
    return (
        f".s{index} rect{{fill:{colour};stroke:{colour}}}.s{index} text{{fill:{ink}}}path.s{index}{{stroke:{colour}}}"
    )
