"""Networks that a pod asks for and definitions that answer, read as Multus and the CNI library read them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sandbox.devices.hardware import Object

ASKED, TOLD = "k8s.v1.cni.cncf.io/networks", "k8s.v1.cni.cncf.io/network-status"
RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_LONGEST_INTERFACE = 15
_VERSIONS = ("0.3.0", "0.3.1", "0.4.0", "1.0.0", "1.1.0")


class AttachmentError(Exception):
    """One sentence: why a pod does not get a network."""


@dataclass(frozen=True)
class Request:
    """One attachment that a pod asks for."""

    space: str
    name: str
    interface: str
    guid: str = ""

    @property
    def key(self) -> str:
        """The definition, as messages and the status name it."""
        return f"{self.space}/{self.name}"


@dataclass(frozen=True)
class Definition:
    """One NetworkAttachmentDefinition: its chain of plugins, and the resource that its devices come from."""

    key: str
    plugins: tuple[Object, ...]
    resource: str

    @property
    def main(self) -> Object:
        """The plugin that makes the interface."""
        return self.plugins[0]

    @property
    def ipam(self) -> Object:
        """The part of the configuration that is about addresses."""
        found = self.main.get("ipam")
        return found if isinstance(found, dict) else {}


def requests(pod: Object) -> list[Request]:
    """Return the attachments of a pod's annotation in its order: they are net1, net2 and so on unless it says."""
    space, text = pod["metadata"]["namespace"], pod["metadata"]["annotations"][ASKED].strip()
    elements = _json(text) if any(sign in text for sign in '[{"') else [_short(one) for one in text.split(",")]
    found = [
        Request(
            str(one.get("namespace") or space),
            str(one.get("name") or ""),
            str(one.get("interface") or f"net{number}"),
            str(one.get("infiniband-guid") or ""),
        )
        for number, one in enumerate(elements, 1)
    ]
    for one in found:
        if not (_NAME.fullmatch(one.space) and _NAME.fullmatch(one.name)):
            raise AttachmentError(f"annotation {ASKED}: {one.key} is no name that Multus reads")
        if len(one.interface) > _LONGEST_INTERFACE or re.search(r"[/\s]", one.interface):
            raise AttachmentError(f"annotation {ASKED}: {one.interface} is no name of an interface")
    interfaces = [one.interface for one in found]
    if twice := next((one for one in interfaces if interfaces.count(one) > 1), None):
        raise AttachmentError(f"annotation {ASKED}: two networks are {twice}")
    return found


def _json(text: str) -> list[Object]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise AttachmentError(f"annotation {ASKED} is neither a list of names nor one of JSON objects")
    return found


def _short(text: str) -> Object:
    whole, _, interface = text.strip().partition("@")
    space, _, name = whole.rpartition("/")
    return {"namespace": space, "name": name, "interface": interface}


def definition(key: str, found: Object | None) -> Definition:
    """Return what a definition says, after the checks of the CNI library."""
    if found is None:
        raise AttachmentError(f"there is no NetworkAttachmentDefinition {key}")
    config = _config(key, found)
    for field in ("cniVersion", "name"):
        if not config.get(field):
            raise AttachmentError(f"definition {key}: {field} is missing")
    if config["cniVersion"] not in _VERSIONS:
        raise AttachmentError(f"definition {key}: no plugin knows cniVersion {config['cniVersion']}")
    plugins = config["plugins"] if isinstance(config.get("plugins"), list) else [config]
    if not plugins or not all(isinstance(one, dict) and one.get("type") for one in plugins):
        raise AttachmentError(f"definition {key}: type is missing")
    notes = found["metadata"].get("annotations") or {}
    return Definition(key, tuple(plugins), notes.get(RESOURCE, ""))


def _config(key: str, found: Object) -> Any:
    try:
        config = json.loads((found.get("spec") or {}).get("config") or "")
    except ValueError:
        config = None
    if not isinstance(config, dict):
        raise AttachmentError(f"definition {key}: spec.config is not JSON")
    return config
