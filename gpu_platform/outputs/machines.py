"""The contract of the cluster, its machines, how their cards are cut, and its operators."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from gpu_platform.outputs.base import Contract


class ClusterOutput(Contract):
    """The cluster of this stack."""

    name: str
    phase: Literal["image", "full"]
    talos_version: str
    kubernetes_version: str | None = None


class ExtensionOutput(Contract):
    """A system extension in an image; version and image are null where the facts do not know them."""

    name: str
    version: str | None = None
    ref: str | None = None


class DriverOutput(Contract):
    """The NVIDIA driver of an image."""

    branch: str
    version: str | None = None
    kernel_modules: Literal["open", "proprietary"]


class ImageClassOutput(Contract):
    """One image: what to install and boot from, and the patch that must go with it."""

    pool: str
    talos_version: str
    architecture: Literal["amd64", "arm64"]
    schematic_id: str = Field(pattern="^[0-9a-f]{64}$")
    schematic: str
    installer: str
    installer_secure_boot: str
    iso: str
    disk: str
    pxe: str
    kernel: str
    initramfs: str
    cmdline: str = ""
    uki: str = ""
    secure_boot: bool = False
    extensions: list[ExtensionOutput]
    kernel_args: list[str]
    driver: DriverOutput | None = None
    machine_config_patch: str
    machine_config_form: Literal["legacy", "documents"] = "legacy"


class NodeOutput(Contract):
    """One machine of the inventory; image_class is null where nothing is to be booted.

    What it hands out: `resources` by extended resource, `devices` for claims by DeviceClass.
    """

    pool: str
    state: Literal["planned", "accepting", "active", "quarantined", "retired"]
    image_class: str | None = None
    installer: str | None = None
    gpu_model: str | None = None
    gpu_count: int
    labels: dict[str, str]
    mig_layout: str | None = None
    mig_config: str | None = None
    allocation: Literal["devicePlugin", "dra"] = "devicePlugin"
    sharing: str | None = None
    partition: str | None = None
    resources: dict[str, int] = Field(default_factory=dict)
    devices: dict[str, int] = Field(default_factory=dict)


class MigLayoutOutput(Contract):
    """A layout of cards: the configuration name that nodes ask for, profiles by GPU numbers (all for every GPU)."""

    config: str
    gpus: dict[str, list[str]]


class MigOutput(Contract):
    """How cards are cut: what slices are called, and the library."""

    strategy: Literal["mixed", "single"]
    layouts: dict[str, MigLayoutOutput]


class MetricsOutput(Contract):
    """What the exporters publish: names of DCGM counters; labels of workloads keep their names (honorLabels)."""

    dcgm: list[str] = Field(default_factory=list)
    honor_labels: bool = True
    node_label: str = "node"


class OperatorOutput(Contract):
    """One operator: what a release of somebody else's must carry, and what the cluster needs besides."""

    manage: Literal["install", "existing"]
    version: str
    namespace: str
    required_values: dict[str, Any]
    needs: dict[str, str] = Field(default_factory=dict)
