"""Jobs that prove a fabric or accept a machine, as plain data: a person applies them, the program never does."""

from __future__ import annotations

from gpu_platform.planning.acceptance.choose import AcceptanceError
from gpu_platform.planning.acceptance.fabric import nccl_test
from gpu_platform.planning.acceptance.machine import accept

__all__ = ["AcceptanceError", "accept", "nccl_test"]
