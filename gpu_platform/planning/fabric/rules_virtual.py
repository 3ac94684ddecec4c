"""Virtual functions that a card, a release or a fabric's manager would not give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform import facts
from gpu_platform.findings import finding
from gpu_platform.planning.fabric.groups import groups
from gpu_platform.planning.fabric.modes import row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gpu_platform.findings import Finding
    from gpu_platform.settings.fabric import Fabric
    from gpu_platform.settings.root import Settings


def virtual_findings(settings: Settings) -> Iterator[Finding]:
    """Yield what is wrong with virtual functions and partitions."""
    fabric, speaks = settings.fabric, groups(settings)[0].fabric
    assert fabric is not None  # noqa: S101 - rules.findings has looked
    made_by = row(settings)["vfs"]
    if made_by:
        most = facts.table("fabric")["vfs"]["most"][speaks]
        if fabric.vfs > most:
            message = f"a port on {speaks} has {most} virtual functions at most, not {fabric.vfs}"
            yield finding(
                "RDMA-018", "fabric.vfs", message, f"write {most} or less, as the firmware's NUM_OF_VFS allows"
            )
    infiniband = bool(made_by) and speaks == "infiniband"
    yield from _partition(fabric, infiniband=infiniband)
    if infiniband and made_by == "machine" and fabric.ufm is None and fabric.pkey is None:
        message = "virtual functions that a machine makes have the GUID zero, with which ib-sriov starts no pod"
        fix = "write ufm, or give them GUIDs by means of your own before pods come"
        yield finding("RDMA-020", "fabric.ufm", message, fix)
    if made_by == "operator":
        yield from _operator(fabric)


def _partition(fabric: Fabric, *, infiniband: bool) -> Iterator[Finding]:
    if fabric.pkey is None:
        return
    known = facts.table("fabric")["pkey"]
    number = fabric.pkey & ~known["full"]
    if not 1 <= number <= known["most"]:
        message = f"{fabric.pkey:#06x} is no partition: they go from 0x0001 to 0x7fff, and from 0x8001 for full members"
        yield finding("RDMA-019", "fabric.pkey", message, "write a partition of your subnet manager, such as 0x8006")
    elif not infiniband:
        message = "partitions are for virtual functions of InfiniBand"
        fix = "leave pkey out, or write mode: sriov-static on InfiniBand"
        yield finding("RDMA-019", "fabric.pkey", message, fix)
    elif fabric.ufm is None:
        message = "nobody puts the pods' GUIDs into this partition"
        yield finding("RDMA-019", "fabric.pkey", message, "write ufm: {secret, guidStart, guidEnd}")


def _operator(fabric: Fabric) -> Iterator[Finding]:
    """The fabric is on Talos alone (RDMA-007)."""
    if fabric.sriov_daemon_image is None:
        message = "the stock config daemon of the SR-IOV operator writes to /etc, which is read-only on Talos"
        fix = "write mode: sriov-static, or sriovDaemonImage: one with sriov-network-operator#1136"
        yield finding("RDMA-021", "fabric.sriovDaemonImage", message, fix)
    else:
        message = "the SR-IOV operator on Talos is an experiment: no release of it supports that"
        fix = "try it on one node first, or write mode: sriov-static"
        yield finding("RDMA-022", "fabric.mode", message, fix)
