"""What `render` prints instead of the stack's objects: jobs that measure, that accept a machine, or to start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_platform.planning import acceptance
from gpu_platform.planning.training.templates import TemplateError, template
from gpu_platform.reports import render
from gpu_platform.reports.render import manifests

if TYPE_CHECKING:
    from gpu_platform.planning.model import Plan


class RenderJobError(Exception):
    """One sentence: why there is no such job."""


@dataclass(frozen=True)
class Asked:
    """The options of `render` that ask for a job."""

    nccl_test: bool
    accept: str | None
    job: str | None
    queue: str | None
    pool: str | None
    nodes: int | None

    @property
    def unfit(self) -> str | None:
        """Why these options do not go together, or None."""
        if self.nccl_test + (self.accept is not None) + (self.job is not None) > 1:
            return "name one of --nccl-test, --accept and --job"
        if not self.nccl_test and self.job is None and (self.pool is not None or self.nodes is not None):
            return "--pool and --nodes go with --nccl-test or --job"
        return "--queue goes with --job" if self.job is None and self.queue is not None else None


def files(plan: Plan, asked: Asked) -> dict[str, str]:
    """Return the objects of the job that is asked for, or else of the stack; raises RenderJobError."""
    try:
        if asked.job is not None:
            return manifests([template(plan, asked.job, asked.queue, asked.pool, asked.nodes)])
        if asked.accept is not None:
            return manifests(acceptance.accept(plan, asked.accept))
        return manifests(acceptance.nccl_test(plan, asked.pool, asked.nodes)) if asked.nccl_test else render.files(plan)
    except (acceptance.AcceptanceError, TemplateError) as error:
        raise RenderJobError(str(error)) from None
