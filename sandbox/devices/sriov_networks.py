"""SriovNetworks and SriovIBNetworks: the NetworkAttachmentDefinitions that the SR-IOV operator makes of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from sandbox.devices.networks import RESOURCE
from sandbox.devices.others import available, listed
from sandbox.kube import ApiError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sandbox.devices.hardware import Object
    from sandbox.devices.sriov import Sriov
    from sandbox.kube import Kube

_API = "sriovnetwork.openshift.io/v1"
_DEFINITION, _PLURAL = "k8s.cni.cncf.io/v1", "network-attachment-definitions"
_TYPES = {"sriovnetworks": "sriov", "sriovibnetworks": "ib-sriov"}
_OWNED = {"sandbox.gpu-platform/publisher": "sriov-network-operator"}
# By field: what the plugins call it (the operator's templates of both kinds).
_KEYS = {"linkState": "link_state", "vlan": "vlan", "vlanQoS": "vlanQoS", "spoofChk": "spoofchk", "trust": "trust"}


def play(kube: Kube, sriov: Sriov, manager: str) -> bool:
    """Make the operator's definitions those of its networks; tell whether anything was written."""
    if not available(sriov.operator):
        return False
    networks = [(kind, one) for plural, kind in _TYPES.items() for one in listed(kube, _API, plural) or ()]
    there = listed(kube, _DEFINITION, _PLURAL)
    if there is None:
        return False
    wanted = _definitions(sriov, networks, there)
    before = {_key(one): one for one in there if _own(one)}
    gone = [key for key in before if key not in wanted]
    changed = [one for key, one in wanted.items() if key not in before or _said(before[key]) != _said(one)]
    for space, name in gone:
        kube.delete(_DEFINITION, _PLURAL, space, name)
    written = [_apply(kube, one, manager) for one in changed]
    return bool(gone) or any(written)


def _apply(kube: Kube, one: Object, manager: str) -> bool:
    try:
        kube.apply(one, _PLURAL, manager=manager)
    except ApiError as error:
        if error.code == 404:  # its namespace may come later
            return False
        raise
    return True


def _definitions(
    sriov: Sriov, networks: Iterable[tuple[str, Object]], there: Iterable[Object]
) -> dict[tuple[str, str], Object]:
    """Return the definitions by namespace and name; one that somebody else made is left to them."""
    foreign = {_key(one) for one in there if not _own(one)}
    prefix = sriov.environment.get("RESOURCE_PREFIX", "")
    found: dict[tuple[str, str], Object] = {}
    for kind, network in networks:
        spec, (space, name) = network.get("spec") or {}, _key(network)
        target = spec.get("networkNamespace") or space
        # Only networks beside the operator may be made for other namespaces.
        if target != space != sriov.space or (target, name) in foreign or (target, name) in found:
            continue
        notes = {RESOURCE: f"{prefix}/{spec.get('resourceName')}"}
        metadata = {"name": name, "namespace": target, "annotations": notes, "labels": dict(_OWNED)}
        config = _config(kind, name, spec)
        head = {"apiVersion": _DEFINITION, "kind": "NetworkAttachmentDefinition"}
        found[target, name] = {**head, "metadata": metadata, "spec": {"config": config}}
    return found


def _config(kind: str, name: str, spec: Object) -> str:
    """Return the configuration as the operator pastes it together, so that a field without JSON spoils it."""
    own = {"type": kind, **{key: spec[field] for field, key in _KEYS.items() if field in spec}}
    main = json.dumps(own)[:-1] + f', "ipam": {spec.get("ipam") or "{}"}}}'
    head = json.dumps({"cniVersion": "1.0.0", "name": name})[:-1]
    if spec.get("metaPlugins"):
        return f'{head}, "plugins": [{main}, {spec["metaPlugins"]}]}}'
    return f"{head}, {main[1:]}"


def _key(one: Object) -> tuple[str, str]:
    return one["metadata"]["namespace"], one["metadata"]["name"]


def _own(one: Object) -> bool:
    return _OWNED.items() <= (one["metadata"].get("labels") or {}).items()


def _said(one: Object) -> tuple[str, str]:
    return one["spec"]["config"], (one["metadata"].get("annotations") or {}).get(RESOURCE, "")
