"""Play the machines: install what the outputs of the stack name, and mark the nodes as Talos would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import requests
import yaml

from sandbox.devices.installation import Image, Installed, install, parse
from sandbox.kube import ApiError

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object
    from sandbox.kube import Kube

_OUTSIDE = {"planned", "retired"}
_MANAGER = "machine"


def boot(kube: Kube, outputs: Object, factory_url: str) -> list[str]:
    """Boot every machine of the stack's outputs that is in the cluster; return a note for each that is not."""
    notes: list[str] = []
    images: dict[str, Image] = {}
    for name, node in outputs["nodes"].items():
        installer = node.get("installer")
        if node.get("state") in _OUTSIDE or not installer:
            notes.append(f"{name}: not in the cluster ({node.get('state') or 'no installer'})")
            continue
        found = _node(kube, name)
        if found is None:
            notes.append(f"{name}: the cluster has no such node")
            continue
        if installer not in images:
            images[installer] = fetch(installer, factory_url)
        patch = outputs["imageClasses"][node["imageClass"]]["machineConfigPatch"]
        _mark(kube, found, install(found, images[installer], installer, patch, node.get("labels") or {}))
    return notes


def fetch(installer: str, factory_url: str) -> Image:
    """Return what the Image Factory would put into an installer."""
    parts = parse(installer)
    if parts is None:
        return Image(failure=f"{installer} is no metal installer of an Image Factory")
    schematic, release = parts
    reply = requests.get(f"{factory_url}/schematics/{schematic}", timeout=10)
    if reply.status_code != requests.codes.ok:
        why = f"the Image Factory answers {reply.status_code} for schematic {schematic}"
        return Image(schematic, release, failure=why)
    custom = (yaml.safe_load(reply.text) or {}).get("customization") or {}
    extensions = tuple((custom.get("systemExtensions") or {}).get("officialExtensions") or ())
    offered = _offered(release, factory_url)
    if offered is None:
        return Image(schematic, release, failure=f"the Image Factory has no Talos {release}")
    if missing := [one for one in extensions if one not in offered]:
        why = f"official extension {missing[0]} is not available for Talos {release}"
        return Image(schematic, release, failure=why)
    return Image(schematic, release, extensions, {one: offered[one] for one in extensions})


def _offered(release: str, factory_url: str) -> dict[str, str] | None:
    """Return the extensions of a Talos release with their versions; the POST of a schematic checks no names."""
    reply = requests.get(f"{factory_url}/version/{release}/extensions/official", timeout=10)
    if reply.status_code != requests.codes.ok:
        return None
    # The reply names no content type.
    return {one["name"]: one["ref"].rpartition(":")[2] for one in json.loads(reply.text)}


def _node(kube: Kube, name: str) -> Any:
    try:
        return kube.get("v1", "nodes", None, name)
    except ApiError as error:
        if error.code == requests.codes.not_found:
            return None
        raise


def _mark(kube: Kube, node: Object, wanted: Installed) -> None:
    """Apply labels and annotations as one manager, so that those of an earlier boot go; taints stay once registered."""
    name = node["metadata"]["name"]
    metadata = {"name": name, "labels": wanted.labels, "annotations": wanted.annotations}
    kube.apply({"apiVersion": "v1", "kind": "Node", "metadata": metadata}, "nodes", manager=_MANAGER)
    there = (node.get("spec") or {}).get("taints") or []
    keys = {(one["key"], one["effect"]) for one in there}
    if missing := [one for one in wanted.taints if (one["key"], one["effect"]) not in keys]:
        kube.merge("v1", "nodes", None, name, {"spec": {"taints": [*there, *missing]}})
