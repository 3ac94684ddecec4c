"""Every object and values file of a plan as YAML, for reading, for GitOps, for tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gpu_platform.planning.model import Part, Plan, Release


def parts(plan: Plan) -> dict[str, Part]:
    """Return the plan's parts that hold Kubernetes objects, by component."""
    return {"gpu-operator": plan.gpu_operator, "rdma-fabric": plan.rdma_fabric, "training-queue": plan.training_queue}


def files(plan: Plan) -> dict[str, str]:
    """Return the whole plan as files: relative path to text.

    machine-config/CLASS.yaml and schematics/CLASS.yaml for machines; COMPONENT/objects/KEY.yaml and
    COMPONENT/releases/KEY.yaml with COMPONENT/releases/KEY.values.yaml for the cluster.
    """
    found: dict[str, str] = {}
    for one in plan.image.classes:
        found[f"schematics/{one.name}.yaml"] = one.schematic
        found[f"machine-config/{one.name}.yaml"] = one.patch
    for component, part in parts(plan).items():
        found |= {f"{component}/{name}": text for name, text in _part(part)}
    return found


def manifests(bodies: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return Kubernetes objects as files: KIND-NAME.yaml."""
    return {f"{one['kind'].lower()}-{one['metadata']['name']}.yaml": as_yaml(one) for one in bodies}


def _part(part: Part) -> Iterator[tuple[str, str]]:
    for manifest in part.manifests:
        yield f"objects/{manifest.key}.yaml", as_yaml(manifest.body)
    for release in part.releases:
        yield f"releases/{release.key}.yaml", as_yaml(_release(release))
        yield f"releases/{release.key}.values.yaml", as_yaml(release.values)


def _release(release: Release) -> dict[str, Any]:
    known = {
        "name": release.name,
        "namespace": release.namespace,
        "chart": release.chart,
        "repository": release.repository,
        "version": release.version,
        "timeoutSeconds": release.timeout,
    }
    return {key: value for key, value in known.items() if value is not None}


class _Dumper(yaml.SafeDumper):
    """Writes for people: texts of several lines as they are, nothing by reference, digits in quotes."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # Readers of YAML 1.2 take more for numbers than PyYAML does, such as 0380.
    style = "|" if "\n" in text else "'" if _DIGITS.fullmatch(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


_DIGITS = re.compile(r"[-+.\d_eE]*\d[-+.\d_eE]*")
_Dumper.add_representer(str, _text)


def as_yaml(value: Any) -> str:
    """Return YAML text with keys in the plan's own order."""
    return yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
