"""What is wrong with a stack file, said so that a tired person can mend it."""

from __future__ import annotations

import difflib
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from gpu_platform import facts

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    """How a finding ends: an error stops the plan, a warning is printed."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Rule:
    """One row of the rule catalogue: a stable ID, what it refuses or warns of, and where that is written down."""

    id: str
    severity: Severity
    title: str
    source: str


@dataclass(frozen=True)
class Finding:
    """One thing to mend: rule ID, severity, path in the stack file, what collides with what, what to write instead."""

    rule: str
    severity: Severity
    path: str
    message: str
    fix: str

    def __str__(self) -> str:
        """Return the one line that people read."""
        return f"{self.severity} {self.rule} {self.path}: {self.message}; {self.fix}"

    def to_json(self) -> dict[str, str]:
        """Return the five keys that machines read, all strings."""
        return {**asdict(self), "severity": str(self.severity)}


def rules() -> dict[str, Rule]:
    """Return the catalogue by rule ID, from facts/rules.toml."""
    return {
        key: Rule(key, Severity(row["severity"]), row["title"], row["source"])
        for key, row in facts.table("rules").items()
    }


def finding(rule: str, path: str, message: str, fix: str) -> Finding:
    """Return a finding of a catalogued rule; an unknown ID is a KeyError, a programming error."""
    return Finding(rule, Severity(facts.table("rules")[rule]["severity"]), path, message, fix)


def errors(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings that stop a plan."""
    return tuple(one for one in findings if one.severity is Severity.ERROR)


def did_you_mean(word: str, known: Iterable[str], *, otherwise: str = "") -> str:
    """Return what to write instead: words that begin so, else the nearest, else `otherwise` or all that is known."""
    choices = sorted(known)
    begun = [choice for choice in choices if word and choice.lower().startswith(word.lower())]
    if len(begun) > 1:
        return f"write one of {', '.join(begun)}"
    near = difflib.get_close_matches(word.lower(), [choice.lower() for choice in choices], n=1, cutoff=0.6)
    if near:
        return f"did you mean {next(choice for choice in choices if choice.lower() == near[0])}?"
    return otherwise or f"write one of {', '.join(choices)}"
