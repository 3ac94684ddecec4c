"""The environment in which pulumi talks to the sandbox and to nothing else."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.build import binary
from sandbox.engine import engines
from sandbox.state import PROJECT

if TYPE_CHECKING:
    from sandbox.state import State

# The language host looks for its executor beside its own real file, pulumi for the host beside itself: one directory.
TOOLCHAIN = (
    "pulumi",
    "pulumi-language-python",
    "pulumi-language-python-exec",
    "pulumi-resource-pulumi-python",
)
PROVIDER = "pulumi-resource-kubernetes"


def provider_version() -> str:
    """Return the version of the Kubernetes provider that the sandbox runs, without a leading v."""
    return engines()[PROVIDER].version.removeprefix("v")


def install(state: State) -> None:
    """Put pulumi with its parts into the sandbox's bin, and the provider where pulumi looks for plugins."""
    for name in TOOLCHAIN:
        _place(binary(name), state.directory / "bin" / name)
    # Off PATH: from there it would win over the installed one and say so at every run.
    plugin = _home(state) / "plugins" / f"resource-kubernetes-v{provider_version()}"
    _place(binary(PROVIDER), plugin / PROVIDER)
    for directory in ("backend", "tmp"):
        (state.directory / directory).mkdir(parents=True, exist_ok=True)


def _place(source: Path, target: Path) -> None:
    """Hard-link a binary, or copy it where the two directories are on different file systems."""
    if target.exists() and target.stat().st_size == source.stat().st_size:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        os.link(source.resolve(), target)
    except OSError:
        shutil.copy(source, target)


def environment(state: State) -> dict[str, str]:
    """Return the variables that a shell needs; PATH holds the sandbox's pulumi first, then this Python's directory."""
    python = Path(sys.executable).parent
    return {
        "PATH": os.pathsep.join([str(state.directory / "bin"), str(python), os.environ.get("PATH", os.defpath)]),
        "VIRTUAL_ENV": sys.prefix,
        "PYTHONPATH": str(PROJECT),
        "KUBECONFIG": str(state.kubeconfig),
        "PULUMI_HOME": str(_home(state)),
        "PULUMI_BACKEND_URL": f"file://{state.directory / 'backend'}",
        "PULUMI_CONFIG_PASSPHRASE": "",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        # The provider leaves kubeconfigs of Helm in the directory for temporary files: here they go with the sandbox.
        "TMPDIR": str(state.directory / "tmp"),
        # Helm keeps repositories and credentials in the home directory otherwise.
        "HELM_CONFIG_HOME": str(state.directory / "helm"),
        "HELM_CACHE_HOME": str(state.directory / "helm"),
        "HELM_DATA_HOME": str(state.directory / "helm"),
    }


def _home(state: State) -> Path:
    return state.directory / "pulumi-home"
