"""NodeFeatureRules: the labels that the NFD master adds to what its workers found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sandbox.devices.ports import VENDOR, ports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from sandbox.devices.hardware import Machine, Object

_DOMAIN = "feature.node.kubernetes.io"
# Under kubernetes.io the master keeps to these and their subdomains (docs of NFD v0.19, customization guide).
_ALLOWED = (_DOMAIN, "profile.node.kubernetes.io")
_TESTS: dict[str, Callable[[str, list[str]], bool]] = {
    "In": lambda value, wanted: value in wanted,
    "NotIn": lambda value, wanted: value not in wanted,
    "InRegexp": lambda value, wanted: any(re.search(one, value) for one in wanted),
}


def labels(rules: Iterable[Object], machine: Machine) -> dict[str, str]:
    """Return the labels of every rule that matches the machine; of features, only pci.device is played."""
    devices = [machine.card.pci] if machine.card else []
    devices += [
        {"vendor": VENDOR, "class": "0207" if one.link == "infiniband" else "0200"} for one in ports(machine.notes)
    ]
    found: dict[str, str] = {}
    for one in rules:
        for rule in one["spec"].get("rules") or ():
            if _matches(rule, devices):
                found |= {_named(key): str(value) for key, value in (rule.get("labels") or {}).items()}
    return {key: value for key, value in found.items() if _allowed(key)}


def domain(label: str) -> bool:
    """Tell whether a label can come from feature discovery alone, so that an old one says nothing."""
    space = label.rpartition("/")[0]
    return space == _DOMAIN or space.endswith("." + _DOMAIN)


def _matches(rule: Object, devices: list[dict[str, str]]) -> bool:
    """Tell whether all terms of matchFeatures hold, and those of at least one entry of matchAny if there is any."""
    either = rule.get("matchAny") or ({"matchFeatures": ()},)
    return _all(rule.get("matchFeatures") or (), devices) and any(
        _all(one.get("matchFeatures") or (), devices) for one in either
    )


def _all(terms: Iterable[Object], devices: list[dict[str, str]]) -> bool:
    return all(one.get("feature") == "pci.device" and any(_fits(one, device) for device in devices) for one in terms)


def _fits(term: Object, device: dict[str, str]) -> bool:
    """Tell whether one device meets every expression of a term."""
    return all(_holds(expression, device.get(key)) for key, expression in (term.get("matchExpressions") or {}).items())


def _holds(expression: Object, value: str | None) -> bool:
    operator = expression["op"]
    if operator in {"Exists", "DoesNotExist"}:
        return bool((value is not None) == (operator == "Exists"))
    test = _TESTS.get(str(operator))
    return value is not None and test is not None and test(value, [str(one) for one in expression.get("value") or ()])


def _named(label: str) -> str:
    return label if "/" in label else f"{_DOMAIN}/{label}"


def _allowed(label: str) -> bool:
    space = "." + label.rpartition("/")[0]
    return not space.endswith(".kubernetes.io") or space.endswith(tuple("." + one for one in _ALLOWED))
