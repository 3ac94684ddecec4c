"""The one place for races with admission webhooks that do not answer yet."""

from __future__ import annotations

import time

import pulumi

# Part of every stack's state: it never changes.
HOOK_NAME = "retry-while-webhooks-start"

BOUND_SECONDS = 60.0
PAUSE_SECONDS = 2.0

# What the API server says when a webhook exists and its server does not answer.
RACES = ("failed calling webhook", "no endpoints available for service")


def retry_while_webhooks_start() -> pulumi.ErrorHook:
    """Return the hook that tries an operation again while a webhook refuses it for want of a server.

    Bounded to a minute for each resource, so that a dead webhook ends as the engine's own error. It does nothing in
    previews, which the engine would otherwise hold up as long; a plain `pulumi destroy` does not call it.
    """
    first_failure: dict[str, float] = {}

    def retry(args: pulumi.ErrorHookArgs) -> bool:
        if pulumi.runtime.is_dry_run() or not any(race in text for text in map(str, args.errors) for race in RACES):
            return False
        began = first_failure.setdefault(args.urn, time.monotonic())
        if time.monotonic() - began > BOUND_SECONDS:
            return False
        time.sleep(PAUSE_SECONDS)
        return True

    return pulumi.ErrorHook(HOOK_NAME, retry)
