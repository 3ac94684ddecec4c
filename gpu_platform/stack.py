"""The bridge from a running Pulumi program to the plan: its configuration in, findings out."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pulumi
from pulumi.runtime import config
from pulumi.runtime.mocks import MockMonitor
from pulumi.runtime.settings import get_monitor

from gpu_platform.findings import Severity
from gpu_platform.planning import plan
from gpu_platform.settings.root import NAMESPACE, SECRETS

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan


# How the language host begins what it prints of an exception, and the exception of every call that is under way when
# the engine stops because of another error.
_UNHANDLED = "Program failed with an unhandled exception"
# A connection to the engine that is gone says as much; a provider that is unavailable for another reason does not.
_GONE = ("Socket closed", "Connection reset by peer", "failed to connect to all addresses", "GOAWAY received")
_CANCELLED = ("context canceled", "StatusCode.CANCELLED", "resource monitor shut down", *_GONE)


def say_cancelled_in_a_sentence() -> None:
    """Replace the SDK's traceback of a cancelled call by a sentence: the error behind it is shown anyway."""
    log_error = pulumi.log.error

    def error(msg: str, *arguments: Any, **keywords: Any) -> None:
        cancelled = msg.startswith(_UNHANDLED) and any(mark in msg for mark in _CANCELLED)
        log_error(
            "stopped because of the error of another resource, shown here too" if cancelled else msg,
            *arguments,
            **keywords,
        )

    pulumi.log.error = error


def leave_interrupts_to_the_engine() -> None:
    """Ignore SIGINT under a real engine, which cancels what is under way by itself and then sends one.

    It would end in a traceback of whatever the program does at that moment, shutting down included.
    """
    if not isinstance(get_monitor(), MockMonitor):
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def planned() -> Plan:
    """Return the plan of the running stack, warnings in its log; raises RunError with all findings if it has none."""
    say_cancelled_in_a_sentence()
    leave_interrupts_to_the_engine()
    result = plan(document())
    warnings = [one for one in result.findings if one.severity is Severity.WARNING]
    for one in warnings:
        pulumi.log.warn(str(one).removeprefix("warning "))  # the engine says so itself
    if result.plan is None:
        wrong = [str(one) for one in result.findings if one.severity is Severity.ERROR]
        lines = "\n".join(f"  {line}" for line in wrong)
        raise pulumi.RunError(f"{len(wrong)} to mend in the stack file of {pulumi.get_stack()}:\n{lines}")
    return result.plan


def document() -> dict[str, Any]:
    """Return the stack's keys of our namespace by their short names; what is secret stays closed.

    A section of which any part is secret is closed as a whole: Pulumi tells no more than that.
    """
    values = {**config.get_config_env(), **config.CONFIG.get()}
    secret = {*config.get_config_secret_keys_env(), *config._SECRET_KEYS.get()}
    prefix = f"{NAMESPACE}:"
    return {
        key.removeprefix(prefix): {"secure": ""} if key in secret else _decoded(key.removeprefix(prefix), value)
        for key, value in values.items()
        if key.startswith(prefix)
    }


def _decoded(name: str, value: Any) -> Any:
    if name in SECRETS or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value
