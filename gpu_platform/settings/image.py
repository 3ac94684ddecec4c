"""Section `image`: the Image Factory and what images are made of; a pool may differ in its own `image`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gpu_platform.settings.base import Section, Text, Url, Version


def _whole_number(value: Any) -> Any:
    return str(value) if type(value) is int else value


# Sysctls are texts; a whole number without quotes means the same digits.
Setting = Annotated[str, BeforeValidator(_whole_number, json_schema_input_type=str | int), Field(min_length=1)]


class Factory(Section):
    """An Image Factory; its credentials are the flat secret keys factoryToken or factoryPassword."""

    url: Url = Field("https://factory.talos.dev", description="base URL of the Image Factory")
    pxe_url: Url | None = Field(None, description="base URL of its PXE host, default pxe.<host> for the public factory")
    ca_file: Text | None = Field(None, description="PEM file of the authority that signed the factory's certificate")
    owner: Text | None = Field(None, description="owner that an Enterprise factory puts into every document")
    username: Text | None = Field(None, description="user name of basic authentication, with factoryPassword")
    proxy_url: Url | None = Field(None, description="HTTP proxy before the factory, default the environment's")
    version: Version | None = Field(None, description="release of the factory, checked against the fields in use")
    mode: Literal["online", "offline"] = Field(
        "online", description="offline: nothing is registered or asked; somebody else registers the documents"
    )
    timeout_seconds: Annotated[int, Field(ge=1, le=300)] | None = Field(
        None, description="how long to wait for an answer, default 15"
    )
    retries: Annotated[int, Field(ge=0, le=10)] | None = Field(
        None, description="further attempts after a passing fault, default 4"
    )


class SecureBoot(Section):
    """UEFI secure boot; nodes cannot change it by an upgrade."""

    enabled: bool = Field(True, description="boot and install signed images")
    enroll_keys: Literal["manual", "if-safe", "force"] | None = Field(
        None, description="how keys get into the firmware; bare metal never does it by itself unless force"
    )
    include_well_known_certificates: bool = Field(False, description="enrol the vendors' certificates too")


class Meta(Section):
    """One value of the META partition, which ISO, disk and PXE images carry and installers do not."""

    key: Annotated[int, Field(ge=0, le=255)] = Field(description="META key, such as 10 or 12")
    value: Text


class Overlay(Section):
    """A board's overlay; options are plain texts, whose bytes can be predicted."""

    image: Text = Field(description="such as siderolabs/sbc-raspberrypi")
    name: Text = Field(description="such as rpi_generic")
    options: dict[Annotated[str, Field(pattern="^[A-Za-z]+$")], Text] = Field(
        default_factory=dict, description="options of the overlay, letters only"
    )


class ImageOptions(Section):
    """What an image is made of. Lists add up, mappings are merged, anything else of a pool replaces the section's."""

    driver_track: Literal["production", "lts"] | None = Field(
        None, description="NVIDIA driver branch, default production"
    )
    kernel_modules: Literal["open", "proprietary"] | None = Field(
        None, description="NVIDIA kernel modules, default what the cards need"
    )
    extensions: tuple[Text, ...] = Field((), description="further system extensions, as siderolabs/<name>")
    extension_order: Literal["sorted", "asWritten"] | None = Field(
        None, description="asWritten keeps the order of an ID that exists already; default sorted"
    )
    kernel_args: tuple[Text, ...] = Field((), description="further kernel arguments")
    secure_boot: SecureBoot | None = Field(None, description="UEFI secure boot, default off")
    bootloader: Literal["auto", "dual-boot", "sd-boot", "grub"] | None = Field(
        None, description="boot loader of ISO and disk images"
    )
    meta: tuple[Meta, ...] = Field((), description="values of the META partition")
    embedded_machine_configuration: Text | None = Field(
        None, description="machine configuration inside ISO, disk and PXE images; no secrets"
    )
    disk_sector_size: Literal[512, 4096] | None = Field(None, description="sector size of disk images, bytes")
    overlay: Overlay | None = Field(None, description="overlay of a single-board computer")
    modules: dict[Text, tuple[Text, ...]] = Field(
        default_factory=dict, description="further kernel modules to load, with their parameters"
    )
    sysctls: dict[Text, Setting] = Field(default_factory=dict, description="further sysctls")
    default_runtime: Literal["nvidia"] | None = Field(None, description="containerd's default runtime")
    machine_config: Literal["documents", "legacy"] | None = Field(
        None,
        description="form of the patch: documents for machines whose configuration Talos 1.14 or newer generated "
        "(its default), legacy for those that were configured before",
    )
    rdma: tuple[Literal["mlx5", "irdma", "bnxt_re", "efa"], ...] = Field(
        (), description="RDMA drivers of the NICs: their modules are loaded, their floors checked"
    )


class Image(ImageOptions):
    """The Image Factory, and what all images of this environment share."""

    factory: Factory = Field(default_factory=Factory, description="the Image Factory")
    prewarm: bool = Field(False, description="let `up` have installers built, and export their digests")


class PoolImage(ImageOptions):
    """What this pool's image has beyond, or instead of, the section `image`."""

    reinstall: bool = Field(
        False, description="nodes are installed afresh: a change that no upgrade can make is no error"
    )
