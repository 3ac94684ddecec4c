"""A stack file, changed where it has to be to run against this sandbox: endpoints, charts, provider version."""

from __future__ import annotations

import copy
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from sandbox import factory
from sandbox.engine import engines
from sandbox.environment import provider_version
from sandbox.errors import SandboxError
from sandbox.state import PROJECT

if TYPE_CHECKING:
    from sandbox.state import State

CHARTS = PROJECT / "sandbox" / "charts"


def write(state: State, stack: str) -> Path:
    """Write the sandbox's version of a stack file (a stack's name or a path) and return where it lies.

    What pulumi has put into an earlier one (the salt of its secrets, secrets set since) is kept.
    """
    source = Path(stack) if "/" in stack or stack.endswith((".yaml", ".yml")) else PROJECT / f"Pulumi.{stack}.yaml"
    target = state.directory / "stacks" / source.name
    target.parent.mkdir(parents=True, exist_ok=True)
    earlier = yaml.safe_load(target.read_text(encoding="utf-8")) if target.exists() else {}
    secrets = {key: value for key, value in earlier.get("config", {}).items() if _is_secret(value)}
    content = {key: value for key, value in earlier.items() if key != "config"}
    content["config"] = {**config(state, source), **secrets}
    target.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return target


def config(state: State, stack_file: Path) -> dict[str, Any]:
    """Return the configuration of a stack file for this sandbox; raises SandboxError when it cannot be read."""
    try:
        stated = yaml.safe_load(stack_file.read_text(encoding="utf-8"))["config"]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise SandboxError(f"{stack_file} is no stack file ({error})") from None
    return overlay(
        stated,
        kubeconfig=state.kubeconfig,
        factory_url=factory.url(state),
        kubernetes_version=engines()["kubernetes"].version,
        provider=provider_version(),
    )


def overlay(
    stated: dict[str, Any], *, kubeconfig: Path, factory_url: str, kubernetes_version: str, provider: str
) -> dict[str, Any]:
    """Return a stack's configuration with the sandbox's endpoints; everything else stays as it is stated.

    Secrets are dropped: they were encrypted for another backend.
    """
    found = {key: copy.deepcopy(value) for key, value in stated.items() if not _is_secret(value)}
    cluster = found.setdefault("gpu-platform:cluster", {})
    cluster.pop("uid", None)
    cluster |= {
        "kubeconfigFrom": {"path": str(kubeconfig)},
        "kubernetesVersion": kubernetes_version,
        "provider": {"version": f"v{provider}"},
        "disposable": True,
    }
    found.setdefault("gpu-platform:image", {})["factory"] = {"url": factory_url, "pxeUrl": factory_url}
    operators = found.setdefault("gpu-platform:operators", {})
    for operator, chart in _charts().items():
        stated_operator = operators.setdefault(operator, {})
        if stated_operator.get("manage") != "existing":
            stated_operator.update({"chart": {"path": chart}, "timeoutSeconds": 120})
    return found


def _charts() -> dict[str, str]:
    """Return the fixture chart of each operator, relative to the project so that previews do not differ by machine."""
    catalog = tomllib.loads((PROJECT / "gpu_platform" / "facts" / "catalog.toml").read_text(encoding="utf-8"))
    charts = {name: CHARTS / row["chart"] for name, row in catalog["operator"].items()}
    return {name: str(path.relative_to(PROJECT)) for name, path in charts.items() if path.is_dir()}


def _is_secret(value: Any) -> bool:
    return isinstance(value, dict) and set(value) == {"secure"}
