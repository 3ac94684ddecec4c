"""The plan as data: every decision taken, every object and Helm value worked out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from gpu_platform.findings import Finding


@dataclass(frozen=True)
class Kubeconfig:
    """Where the kubeconfig comes from; `name` is a stack, a file, or empty."""

    kind: Literal["stackReference", "path", "secret", "ambient", "none"]
    name: str = ""
    output: str = ""


@dataclass(frozen=True)
class ClusterPlan:
    """Identity of the cluster and how the program reaches it."""

    name: str
    phase: str
    talos_version: str
    kubernetes_version: str | None
    kubeconfig: Kubeconfig
    uid: str | None
    provider_version: str | None
    disposable: bool
    online: bool


@dataclass(frozen=True)
class Extension:
    """A system extension, why it is there, its version and image; None where the facts do not know the release."""

    name: str
    reason: str
    version: str | None
    ref: str | None


@dataclass(frozen=True)
class Boot:
    """Everything that a machine boots or is installed from."""

    installer: str
    installer_secure_boot: str
    iso: str
    disk: str
    pxe: str
    kernel: str
    initramfs: str
    cmdline: str
    uki: str


@dataclass(frozen=True)
class ImageClass:
    """Nodes that boot one image: its document, what it holds, and the machine-config patch that goes with it."""

    name: str
    pool: str
    talos_version: str
    architecture: str
    vendor: str | None
    secure_boot: bool
    reinstall: str | None
    documents: str | None
    schematic: str
    schematic_id: str
    extensions: tuple[Extension, ...]
    kernel_args: tuple[str, ...]
    kernel_args_from: tuple[str, ...]
    modules: tuple[str, ...]
    sysctls: tuple[str, ...]
    driver_branch: str | None
    driver_version: str | None
    kernel_modules: str | None
    boot: Boot
    patch: str


@dataclass(frozen=True)
class NodePlan:
    """One machine as every part of the platform sees it."""

    name: str
    pool: str
    state: str
    image_class: str | None
    talos_version: str | None
    gpu_model: str | None
    gpu_count: int
    rack: str | None
    leaf: str | None
    labels: dict[str, str]


@dataclass(frozen=True)
class ImagePlan:
    """The images of this environment and the factory that builds them; None is a default, so that state holds none."""

    factory_url: str
    ca_file: str | None
    username: str | None
    proxy_url: str | None
    mode: str | None
    timeout_seconds: int | None
    retries: int | None
    prewarm: str | None
    classes: tuple[ImageClass, ...]


@dataclass(frozen=True)
class Manifest:
    """One Kubernetes object; `key` names its resource, `after` the keys of what makes it possible."""

    key: str
    body: dict[str, Any]
    after: tuple[str, ...] = ()
    retain: bool = False
    protect: bool = False


@dataclass(frozen=True)
class Release:
    """One Helm release with every value known; timeout in seconds."""

    key: str
    name: str
    namespace: str
    chart: str
    version: str | None
    repository: str | None
    values: dict[str, Any]
    timeout: int
    after: tuple[str, ...] = ()
    retain: bool = False
    protect: bool = False


@dataclass(frozen=True)
class Part:
    """What one component registers, in an order in which each `after` comes first."""

    manifests: tuple[Manifest, ...] = ()
    releases: tuple[Release, ...] = ()


@dataclass(frozen=True)
class OperatorPlan:
    """One operator as outputs and explain show it; `required_values` is what a foreign release must carry."""

    name: str
    manage: str
    version: str
    namespace: str
    required_values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Off:
    """A part that is not there, and why."""

    part: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """The whole plan of one environment."""

    cluster: ClusterPlan
    nodes: tuple[NodePlan, ...]
    image: ImagePlan
    gpu_operator: Part
    operators: tuple[OperatorPlan, ...]
    off: tuple[Off, ...]


@dataclass(frozen=True)
class Planned:
    """A plan, or None when a finding is an error, and all findings in the order of their paths."""

    plan: Plan | None
    findings: tuple[Finding, ...]
