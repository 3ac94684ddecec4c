"""Fill the registry with what the facts say of Talos: releases and their extensions, as images of a few bytes."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import io
import json
import tarfile
import tomllib
from typing import Any
from urllib.parse import quote, urlsplit

from sandbox.errors import SandboxError
from sandbox.factory.boot_files import boot_files
from sandbox.state import PROJECT

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
FACTS = PROJECT / "gpu_platform" / "facts" / "talos.toml"


def seed(port: int) -> None:
    """Push the images that make a factory list every release and extension of facts/talos.toml."""
    facts = tomllib.loads(FACTS.read_text(encoding="utf-8"))
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        registry = _Registry(connection)
        for release in facts["release"]:
            _release(registry, release, facts["extension"])


def _release(registry: _Registry, release: dict[str, Any], extensions: list[dict[str, Any]]) -> None:
    version = f"v{release['version']}"
    # The tags of the imager are the releases; its contents are for builds.
    registry.image("siderolabs/imager", version, boot_files())
    registry.image("siderolabs/installer-base", version, {"usr/bin/installer": b"no installer\n"})
    lines = [_extension(registry, row, release) for row in extensions if _has(row, release["version"])]
    descriptions = "".join(f'"{line}":\n  author: "facts"\n  description: "facts"\n' for line in lines)
    listing = {"image-digests": "\n".join([*lines, ""]).encode(), "descriptions.yaml": descriptions.encode()}
    registry.image("siderolabs/extensions", version, listing)
    registry.image("siderolabs/overlays", version, {"overlays.yaml": b"overlays: []\n"})


def _has(row: dict[str, Any], release: str) -> bool:
    def minor(text: str) -> tuple[int, ...]:
        return tuple(int(part) for part in text.split(".")[:2])

    return minor(row["since"]) <= minor(release) <= minor(row.get("until", "99.0"))


def _extension(registry: _Registry, row: dict[str, Any], release: dict[str, Any]) -> str:
    """Push one extension and return the line that lists it."""
    values = {key: release[key] for key in ("lts", "production", "toolkit")}
    tag = row.get("tag", "{talos}").format(talos=f"v{release['version']}", **values)
    name = row["name"]
    manifest = f'version: v1alpha1\nmetadata:\n  name: {name.split("/")[1]}\n  version: "{tag}"\n  author: facts\n'
    manifest += "  description: facts\n  compatibility:\n    talos:\n      version: '>= v1.0.0'\n"
    digest = registry.image(name, tag, {"manifest.yaml": manifest.encode(), "rootfs/README": b"no files\n"})
    return f"ghcr.io/{name}:{tag}@{digest}"


class _Registry:
    """Pushes to an OCI registry, each blob once."""

    def __init__(self, connection: http.client.HTTPConnection) -> None:
        self._connection = connection
        self._pushed: set[str] = set()

    def image(self, repository: str, tag: str, files: dict[str, bytes]) -> str:
        """Push a two-architecture image of one layer and return the digest of its index."""
        layer = _tar(files)
        children = []
        for architecture in ("amd64", "arm64"):
            rootfs = {"type": "layers", "diff_ids": [_digest(layer)]}
            config = json.dumps({"architecture": architecture, "os": "linux", "config": {}, "rootfs": rootfs}).encode()
            document = {
                "config": self._blob(repository, CONFIG, config),
                "layers": [self._blob(repository, LAYER, layer)],
            }
            child = self._manifest(repository, None, MANIFEST, document)
            children.append({**child, "platform": {"architecture": architecture, "os": "linux"}})
        return str(self._manifest(repository, tag, INDEX, {"manifests": children})["digest"])

    def _blob(self, repository: str, media_type: str, data: bytes) -> dict[str, Any]:
        digest = _digest(data)
        if digest not in self._pushed:  # the registry keeps blobs for all repositories together
            place = urlsplit(str(self._call("POST", f"/v2/{repository}/blobs/uploads/").getheader("Location")))
            query = f"{place.query}&digest={quote(digest)}".lstrip("&")
            self._call("PUT", f"{place.path}?{query}", data, "application/octet-stream")
            self._pushed.add(digest)
        return {"mediaType": media_type, "size": len(data), "digest": digest}

    def _manifest(self, repository: str, tag: str | None, media_type: str, document: dict[str, Any]) -> dict[str, Any]:
        data = json.dumps({"schemaVersion": 2, "mediaType": media_type, **document}).encode()
        self._call("PUT", f"/v2/{repository}/manifests/{tag or _digest(data)}", data, media_type)
        return {"mediaType": media_type, "size": len(data), "digest": _digest(data)}

    def _call(self, method: str, path: str, body: bytes = b"", media_type: str = "") -> http.client.HTTPResponse:
        self._connection.request(method, path, body, {"Content-Type": media_type} if media_type else {})
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SandboxError(f"the registry refused {method} {path}: {answer.status} {text[:200]!r}")
        return answer


def _tar(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for directory in sorted({name.rsplit("/", 1)[0] for name in files if "/" in name}):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    return buffer.getvalue()


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"
