"""A node with VFs or whole ports, definitions and pools, good in every respect until a test spoils one."""

import json
from dataclasses import replace
from typing import Any

from sandbox.devices.attachments import judge
from sandbox.devices.cni import Here, Scene
from sandbox.devices.decide import decide
from sandbox.devices.fabric import POLICY, PRESENT, Fabric
from sandbox.devices.hardware import machine
from sandbox.devices.networks import ASKED, RESOURCE, TOLD
from sandbox.devices.ports import FABRIC, VFS
from tests.sandbox.device_objects import Object, node, view
from tests.sandbox.test_devices_fabric import IMAGE, MODULES, NOTES, OPERATOR, SPACES

FIRST, SECOND = "0000:1a:00.0", "0000:3c:00.0"
TOLERATE = [{"operator": "Exists"}]
NETWORK = {"multus": IMAGE, "cniPlugins": IMAGE, "ipoib": IMAGE}
RAILS = [(FIRST, "rail_0"), (SECOND, "rail_1")]


def policy(**spec: Any) -> Object:
    entries = [{"resourceName": name, "selectors": {"rootDevices": [pci], "isRdma": True}} for pci, name in RAILS]
    good = {
        "secondaryNetwork": NETWORK,
        "nvIpam": IMAGE,
        "sriovDevicePlugin": {**IMAGE, "config": json.dumps({"resourceList": entries})},
    }
    return {"metadata": {"name": POLICY}, "spec": {**good, **spec}}


def here(name: str = "n1", fabric: str = "ethernet", vfs: int = 0, one: Object | None = None, **more: Any) -> Here:
    notes = {**NOTES, FABRIC: fabric, **({VFS: json.dumps({FIRST: vfs, SECOND: vfs})} if vfs else {})}
    found = node(modules=more.pop("modules", (*MODULES, "ib_ipoib")), more=notes, **more)
    found["metadata"] |= {"labels": {PRESENT: "true"}, "name": name}
    published = decide(view(namespaces=SPACES, fabric=Fabric(OPERATOR, (one or policy(),))), found)
    return Here(machine(found), {PRESENT: "true", **published.labels}, published)


def definition(
    name: str = "rail-0", space: str = "train", resource: str = "nvidia.com/rail_0", **config: Any
) -> Object:
    good = {"cniVersion": "1.0.0", "name": name, "type": "host-device"}
    notes = {RESOURCE: resource} if resource else {}
    metadata = {"name": name, "namespace": space, "annotations": notes}
    return {"metadata": metadata, "spec": {"config": json.dumps({**good, **config})}}


def nv_ipam(name: str, kind: str = "ippool") -> Object:
    return {"type": "nv-ipam", "poolName": name, "poolType": kind}


def pool(name: str = "rail-0", **spec: Any) -> Object:
    good = {"subnet": "192.168.0.0/24", "perNodeBlockSize": 4}
    return {"metadata": {"name": name, "namespace": "net"}, "spec": {**good, **spec}}


def daemon_set(name: str, image: str, space: str = "net", path: str = "/opt/cni/bin/", **pod: Any) -> Object:
    volumes = [{"name": "v", "hostPath": {"path": path}}, {"name": "empty"}]
    spec = {"initContainers": [{"image": image}], "volumes": volumes, "tolerations": TOLERATE, **pod}
    return {"metadata": {"name": name, "namespace": space}, "spec": {"template": {"spec": spec}}}


def keyed(*found: Object) -> dict[str, Object]:
    return {f"{one['metadata']['namespace']}/{one['metadata']['name']}": one for one in found}


def scene(*definitions: Object, **spoilt: Any) -> Scene:
    one = spoilt.pop("one", None) or policy()
    good: Object = {
        "namespaces": SPACES,
        "fabric": Fabric(OPERATOR, (one,)),
        "definitions": keyed(*definitions),
        "nodes": frozenset({"n1", "n2", "n3"}),
    }
    return Scene(**{**good, **spoilt})


def pod(
    networks: str = "rail-0", name: str = "p", at: str = "n1", told: list[Object] | None = None, **limits: int
) -> Object:
    notes = {ASKED: networks, **({TOLD: json.dumps(told)} if told is not None else {})}
    stated = {f"nvidia.com/{key}": str(value) for key, value in (limits or {"rail_0": 1}).items()}
    metadata = {"name": name, "namespace": "train", "uid": name, "annotations": notes}
    return {"metadata": metadata, "spec": {"nodeName": at, "containers": [{"resources": {"limits": stated}}]}}


def told(seen: Scene, *pods: Object, at: Here | None = None) -> list[Any]:
    """Return the status of every pod that waits, or the sentence why it has none."""
    place = at or here()
    verdicts, _ = judge(seen, pods, lambda name: replace(place, machine=replace(place.machine, name=name)))
    return [json.loads(one.status) if one.status else one.error for one in verdicts]
