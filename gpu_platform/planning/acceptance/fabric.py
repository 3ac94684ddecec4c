"""What measures the fabric of a pool: all-reduce of every card over every rail, between its active nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_platform.planning.acceptance import choose, objects, thresholds

if TYPE_CHECKING:
    from gpu_platform.planning.model import FabricPool, Plan

PORT = 29500
# Pulling the image takes most of it.
DEADLINE = 3600
ENVIRONMENT = {
    # NCCL's own transport, whose lines in the log are known, instead of the image's plug-in.
    "NCCL_NET_PLUGIN": "none",
    # Rails are measured: not NVLink between machines, nor sums in the switches inside them, with which two machines
    # show more than their rails carry (NVIDIA/nccl-tests#290 and #196).
    "NCCL_MNNVL_ENABLE": "0",
    "NCCL_ALGO": "Ring",
}


def nccl_test(plan: Plan, pool: str | None = None, count: int | None = None) -> tuple[dict[str, Any], ...]:
    """Return the objects that measure a pool's fabric between its active nodes; raises AcceptanceError."""
    found = choose.fabric_pool(plan, pool)
    nodes, wanted = choose.fabric_nodes(plan, found.name, count)
    assert plan.fabric is not None  # noqa: S101 - a pool on the fabric was found
    space, called = plan.fabric.namespaces[0], objects.name("nccl-test", found.name)
    model, gpus = nodes[0].gpu_model or "", nodes[0].gpu_count
    threshold = thresholds.between(model, gpus, found.device, len(found.rails))
    template = objects.template(
        found.patch,
        called,
        [*_torchrun(called, wanted, gpus), f"{objects.DIRECTORY}/all_reduce.py", *asked(threshold, found)],
        ENVIRONMENT,
        subdomain=called,
        affinity=objects.pinned(*(one.name for one in nodes)),
        tolerations=list(nodes[0].tolerations),
    )
    indexed = {"completionMode": "Indexed", "completions": wanted, "parallelism": wanted}
    return (
        objects.config_map(called, space, "all_reduce"),
        objects.service(called, space, PORT),
        objects.job(called, space, threshold.reason, template, DEADLINE, **indexed),
    )


def asked(threshold: thresholds.Threshold, pool: FabricPool | None) -> list[str]:
    """Return the options that both programs share: bandwidth, rails, and their devices where those are known."""
    rails = pool.rails if pool else ()
    hcas = [one.hca for one in rails if one.hca]
    return [
        *([] if threshold.at_least is None else [f"--at-least={threshold.at_least}"]),
        *([f"--rails={len(rails)}"] if rails else []),
        *(f"--hca={one}" for one in hcas if len(hcas) == len(rails)),
    ]


def _torchrun(called: str, nodes: int, gpus: int) -> list[str]:
    return [
        "torchrun",
        f"--nnodes={nodes}",
        f"--nproc-per-node={gpus}",
        "--node-rank=$(JOB_COMPLETION_INDEX)",
        f"--master-addr={called}-0.{called}",
        f"--master-port={PORT}",
    ]
