"""Schematic documents as people and programs write them, good and bad, from a seed."""

from __future__ import annotations

import json
import random
from typing import Any

import yaml

# Texts on which YAML libraries differ, and what kernel command lines and META values really hold.
TEXTS = (
    *("", " ", "~", "null", "Null", "true", "False", "yes", "off", "n", "y", "On", "<<"),
    *("=", "-", "--", "---", "...", "?", "0", "1", "-1", "+1", "007", "08", "0o17", "0x1F", "0b101", "1_000"),
    *("1e3", "1.5", ".5", "5.", "1e", "0x", "-0", "1:30", ".inf", "-.Inf", ".nan", "NaN"),
    *("2026-12-01", "2026-13-01", "2026-12-01T10:00:00Z", "2026-12-01 10:00", "12:30:45"),
    *("a: b", "a:b", "a :b", "a #b", "a#b", "#a", "a ", " a", "'a'", '"a"', "it's", "a,b", "[a]", "{a}"),
    *("&a", "*a", "!a", "|a", ">a", "%a", "@a", "`a", "a\tb", "\ta", "a\nb", "a\n", "a\n\n", "\na"),
    *("a\n b\n", " a\nb", "a \nb", "a\n ", "\n", "é", "日本", "😀", "\u2028"),
    *("a\\b", "a\rb", "a\x07b", "\ufeff", "key=" + "word " * 40 + "end", "x" * 200),
    *("iommu=pt", "console=ttyS0,115200n8", "ip=10.0.0.2::10.0.0.1:255.255.255.0::eth0:off"),
    *("-selinux", "pci=realloc=on", "vfio-pci.ids=10de:2330,10de:22a3"),
    *("talos.config=https://x.example/a?b=${uuid}", '{"externalIPs":["1.2.3.4"]}'),
    *("apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: a\n", "a: 1\nb: 2\n", "a:\n  - b\n\n  - c\n"),
)
NAMES = (
    "siderolabs/amdgpu",
    "siderolabs/iscsi-tools",
    "siderolabs/nvidia-container-toolkit-production",
    "siderolabs/no-such-thing",
    "amdgpu",
    "",
)
# Plain scalars as they stand in a file, which a library may take for something other than text.
PLAIN = ("1", "true", "0x10", "~", "null", "1.0", "yes", "2026-12-01", "1e3", "a", "'1'", '"x"', "[]", "{}")


class Documents:
    """A stream of documents; equal seeds give equal streams."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - tests, not secrets

    def text(self) -> str:
        """Return one document as YAML text: block, flow, JSON, or with plain scalars in odd places."""
        document = self._document()
        how = self._random.randrange(4)
        if how == 0:
            return json.dumps(document, ensure_ascii=False)
        if how == 1:
            arguments = ", ".join(self._random.choice(PLAIN) for _ in range(self._random.randrange(1, 4)))
            return f"customization:\n  extraKernelArgs: [{arguments}]\n"
        flow = None if how == 2 else True
        return str(yaml.safe_dump(document, default_flow_style=flow, allow_unicode=True, sort_keys=False))

    def _document(self) -> dict[str, Any]:
        custom: dict[str, Any] = {}
        self._maybe(custom, "extraKernelArgs", lambda: self._list(TEXTS))
        self._maybe(custom, "meta", self._meta)
        self._maybe(custom, "systemExtensions", lambda: {"officialExtensions": self._list(NAMES)})
        self._maybe(custom, "embeddedMachineConfiguration", lambda: self._pick(TEXTS), 8)
        self._maybe(
            custom, "bootloader", lambda: self._pick(("none", "grub", "sd-boot", "dual-boot", "GRUB", "auto")), 6
        )
        self._maybe(custom, "secureboot", self._secure_boot, 6)
        self._maybe(custom, "diskImage", lambda: {"sectorSize": self._pick((0, 512, 4096, -1))}, 8)
        self._maybe(custom, "typo", lambda: "x", 40)
        document: dict[str, Any] = {}
        self._maybe(document, "overlay", self._overlay, 8)
        document["customization"] = self._pick((custom, custom, custom, custom, None, {}))
        self._maybe(document, "customisation", dict, 60)
        return document

    def _maybe(self, into: dict[str, Any], key: str, value: Any, one_in: int = 2) -> None:
        if self._random.randrange(one_in) == 0:
            into[key] = value()

    def _pick(self, choices: tuple[Any, ...]) -> Any:
        return self._random.choice(choices)

    def _list(self, choices: tuple[str, ...]) -> list[str]:
        return [
            self._odd() if self._random.randrange(6) == 0 else self._pick(choices)
            for _ in range(self._random.randrange(4))
        ]

    def _odd(self) -> str:
        """Return a text of characters that matter to YAML, and some that do not."""
        return "".join(
            self._random.choice(" :#-?,[]{}&*!|>'\"%@`=abz019._+~\t\né") for _ in range(self._random.randrange(1, 8))
        )

    def _meta(self) -> list[dict[str, Any]]:
        keys = (10, 12, 0, 255, 256, "0xa")
        return [{"key": self._pick(keys), "value": self._pick(TEXTS)} for _ in range(self._random.randrange(1, 3))]

    def _secure_boot(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self._maybe(found, "enrollKeys", lambda: self._pick(("off", "manual", "if-safe", "force")))
        self._maybe(found, "includeWellKnownCertificates", lambda: self._pick((True, False)))
        return found

    def _overlay(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "image": self._pick(("siderolabs/sbc-raspberrypi", "a: b", "")),
            "name": self._pick(TEXTS[:30]),
        }
        options = {key: self._pick(TEXTS) for key in ("configTxt", "data", "Zeta", "alpha")}
        self._maybe(
            found, "options", lambda: self._pick((options, {"a1": "x"}, {"speed": 1}, {"deep": {"er": "x"}}, {}))
        )
        return found
