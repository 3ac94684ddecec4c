"""Labels that move with objects of this stack: patches of nodes that are in, one for each subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_platform.planning import inventory
from gpu_platform.planning.model import Manifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gpu_platform.settings.inventory import Node, Pool


def node_patches(
    pools: Iterable[Pool], subject: str, labels: Callable[[Pool, Node], dict[str, str]], after: tuple[str, ...]
) -> Iterator[Manifest]:
    """Yield a patch for each node of `pools` that has labels of this subject and may be patched.

    A patch of a node that has not joined creates a Node object that outlives a destroy (measured). A quarantined node
    keeps its labels: taking them away would cut its cards anew, under the eyes of whoever looks for the fault.
    """
    for pool in pools:
        for name, node in pool.nodes.items():
            wanted = labels(pool, node)
            if wanted and inventory.state(node)["patched"]:
                yield _patch(name, subject, wanted, after)


def _patch(name: str, subject: str, labels: dict[str, str], after: tuple[str, ...]) -> Manifest:
    notes = {"pulumi.com/patchForce": "true", "pulumi.com/patchFieldManager": f"gpu-platform-{subject}"}
    metadata = {"name": name, "labels": labels, "annotations": notes}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": metadata}
    # The subject comes last in every key: no node's name can make two keys equal.
    return Manifest(f"{name}-{subject}", body, after, patch=True)
