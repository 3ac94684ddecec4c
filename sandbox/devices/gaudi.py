"""Intel's operator and DRA driver for Gaudi: why cards are not handed out, or what is published for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sandbox.devices.feature_rules import domain
from sandbox.devices.others import Outcome, available
from sandbox.devices.placement import spelled, untolerated
from sandbox.devices.slices import slice_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sandbox.devices.discovery import Discovered
    from sandbox.devices.hardware import Card, Machine, Object
    from sandbox.devices.view import View

RESOURCE, DRIVER = "habana.ai/gaudi", "gaudi.intel.com"


def play(view: View, machine: Machine, card: Card, discovered: Discovered) -> Outcome:
    """Return what becomes of a machine with Gaudi cards under the operator, the DRA driver, or both."""
    if machine.system == "talos":
        # CONFIG_DRM_ACCEL_HABANALABS is off in the kernel of siderolabs/pkgs, and no official extension fills in.
        return Outcome(f"Talos has no driver for {card.product}: neither its kernel nor an extension holds habanalabs")
    labels = {key: value for key, value in machine.labels.items() if not domain(key)} | discovered.labels
    unclaimed, unplugged = next(_claims(view, machine, labels), None), next(_operator(view, machine, labels), None)
    slices = () if unclaimed else (slice_of(DRIVER, machine.name, _devices(card, machine.count), machine.uid),)
    resources = {} if unplugged else {RESOURCE: str(machine.count)}
    if slices or resources:
        told = [f"{machine.count} Gaudi published"] if resources else []
        told += [f"{machine.count} devices published in a ResourceSlice"] if slices else []
        return Outcome(" and ".join(told), resources=resources, slices=slices)
    return Outcome(unclaimed if view.others.gaudi_plugin and unclaimed else unplugged or "")


def _operator(view: View, machine: Machine, labels: dict[str, str]) -> Iterator[str]:
    """Yield why the operator's device plugin hands out none of the cards."""
    if not view.others.gaudi_policies:
        yield "no ClusterPolicy of Intel's Gaudi operator is in the cluster"
        return
    if RESOURCE not in machine.extended and not available(view.others.gaudi_operator):
        yield "the Gaudi operator's controller manager is not available"
    spec = view.others.gaudi_policies[0].get("spec") or {}
    if spec.get("accelerator_allocation_mode") == "dra":
        yield "accelerator_allocation_mode is dra: no habana.ai/gaudi is handed out"
    yield from _unselected("the Gaudi ClusterPolicy's node_selector", spec.get("node_selector"), labels)
    # Its documented fields hold no tolerations.
    if taint := untolerated(machine, ()):
        yield f"the Gaudi operator's pods do not tolerate taint {spelled(taint)}"


def _claims(view: View, machine: Machine, labels: dict[str, str]) -> Iterator[str]:
    """Yield why the DRA driver publishes none of the cards."""
    if view.others.gaudi_plugin is None:
        yield "no DaemonSet of Intel's Gaudi resource driver is in the cluster"
        return
    pod = view.others.gaudi_plugin["spec"]["template"]["spec"]
    yield from _unselected("the Gaudi resource driver", pod.get("nodeSelector"), labels)
    if taint := untolerated(machine, pod.get("tolerations") or ()):
        yield f"the Gaudi resource driver does not tolerate taint {spelled(taint)}"


def _unselected(who: str, selector: dict[str, str] | None, labels: dict[str, str]) -> Iterator[str]:
    for key, value in (selector or {}).items():
        if labels.get(key) != value:
            yield f"{who} selects nodes with {key}={value}"


def _devices(card: Card, count: int) -> list[Object]:
    """Return what the driver tells of each card (cmd/kubelet-gaudi-plugin of intel-resource-drivers-for-kubernetes)."""
    return [
        {
            "name": f"0000-{slot * 16 + 5:02x}-00-0-0x{card.pci.get('device', '')}",
            "attributes": {
                "model": {"string": card.product},
                "serial": {"string": f"AN{slot:08d}"},
                "healthy": {"bool": True},
                "pciRoot": {"string": f"{slot * 16:02x}"},
                "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{slot * 16:02x}"},
            },
        }
        for slot in range(count)
    ]
