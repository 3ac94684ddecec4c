"""The configuration of the Image Factory: loopback registries, no signatures, no other listener."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path


def write_config(directory: Path, ports: dict[str, int]) -> Path:
    """Write the factory's configuration into `directory` and return its path."""
    here = {"registry": f"127.0.0.1:{ports['registry']}", "insecure": True}
    listen = f"127.0.0.1:{ports['factory']}"
    content: dict[str, Any] = {
        # Both listeners default to every interface; an empty address turns the metrics one off.
        "http": {"httpListenAddr": listen, "externalURL": f"http://127.0.0.1:{ports['factory-proxy']}/"},
        "metrics": {"addr": ""},
        "build": {"minTalosVersion": "1.10.0", "maxConcurrency": 2},
        # With signatures on, it fetches the Sigstore root at start and ends without a network.
        "containerSignature": {"disabled": True},
        "secureBoot": {"enabled": False},
        "artifacts": {
            "talosVersionRecheckInterval": "1s",
            "refreshInterval": "5m",
            "core": {"registry": "ghcr.io", "insecure": True},
            "schematic": {**here, "namespace": "image-factory", "repository": "schematics"},
            "installer": {"internal": {**here, "namespace": "siderolabs"}},
        },
        "cache": {
            "oci": {**here, "namespace": "image-factory", "repository": "cache"},
            "signingKeyPath": str(directory / "cache.key"),
            # A schematic that was looked for in vain is looked for again after a second, not after half a minute.
            "schematic": {"capacity": 10000, "negativeTTL": "1s"},
        },
    }
    path = directory / "config.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path
