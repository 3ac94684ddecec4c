"""The plan as data: every decision taken, every object and Helm value worked out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from gpu_platform.findings import Finding
    from gpu_platform.planning.training.model import QueuesPlan


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
    mig_layout: str | None
    mig_config: str | None
    allocation: str
    sharing: str | None
    partition: str | None
    resources: dict[str, int]
    devices: dict[str, int]
    tolerations: tuple[dict[str, str], ...]


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
    """One Kubernetes object; `key` names its resource, `after` the keys of what makes it possible.

    `patch`: only the fields in `body` are ours, of an object that somebody else makes.
    """

    key: str
    body: dict[str, Any]
    after: tuple[str, ...] = ()
    retain: bool = False
    protect: bool = False
    patch: bool = False

    @property
    def token(self) -> str:
        """The type under which the Kubernetes provider knows it."""
        version, kind = str(self.body["apiVersion"]), f"{self.body['kind']}{'Patch' if self.patch else ''}"
        return f"kubernetes:{version if '/' in version else f'core/{version}'}:{kind}"


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

    items: tuple[Manifest | Release, ...] = ()

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """The Kubernetes objects."""
        return tuple(one for one in self.items if isinstance(one, Manifest))

    @property
    def releases(self) -> tuple[Release, ...]:
        """The Helm releases."""
        return tuple(one for one in self.items if isinstance(one, Release))


@dataclass(frozen=True)
class OperatorPlan:
    """One operator as outputs and explain show it.

    `required_values` is what a foreign release must carry, `needs` what the cluster must have besides.
    """

    name: str
    manage: str
    version: str
    namespace: str
    required_values: dict[str, Any] = field(default_factory=dict)
    needs: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class MigLayout:
    """A layout of the library: its name for the MIG manager, and profiles by GPU numbers (`all` for every GPU)."""

    name: str
    config: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class MigPlan:
    """How cards are cut: strategy, library, and the ConfigMap that holds it; no layouts where nothing is cut."""

    strategy: str
    config_map: str
    layouts: tuple[MigLayout, ...] = ()


@dataclass(frozen=True)
class Rail:
    """One rail of a pool: its port, its RDMA device, and what pods ask for and get there."""

    index: int
    pci: str
    hca: str | None
    interface: str
    network: str | None
    resource: str | None
    subnet: str | None


@dataclass(frozen=True)
class FabricPool:
    """A pool on the fabric, and what a pod says to use every rail with every card of a node."""

    name: str
    fabric: str
    device: str
    rails: tuple[Rail, ...]
    networks: str
    limits: dict[str, str]
    node_selector: dict[str, str]
    environment: dict[str, str]
    claim_template: str | None
    patch: dict[str, Any]


@dataclass(frozen=True)
class FabricPlan:
    """The fabric; `capacity` is how many nodes find addresses, None where pods get none.

    `policy` is the network operator's, `device_class` that of claimed rails; `needs` is what others must see to.
    """

    mode: str
    policy: str | None
    device_class: str | None
    namespaces: tuple[str, ...]
    capacity: int | None
    needs: dict[str, str]
    cilium_values: dict[str, Any]
    pools: tuple[FabricPool, ...]


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
    rdma_fabric: Part
    training_queue: Part
    fabric: FabricPlan | None
    queues: QueuesPlan | None
    mig: MigPlan
    counters: tuple[str, ...]
    operators: tuple[OperatorPlan, ...]
    off: tuple[Off, ...]


@dataclass(frozen=True)
class Planned:
    """A plan, or None when a finding is an error, and all findings in the order of their paths."""

    plan: Plan | None
    findings: tuple[Finding, ...]
