"""Section `image`: the Image Factory and what all images of this environment share."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gpu_platform.settings.base import Section, Text, Url


class Factory(Section):
    """An Image Factory; its token is the flat secret key factoryToken."""

    url: Url = Field("https://factory.talos.dev", description="base URL of the Image Factory")
    pxe_url: Url | None = Field(None, description="base URL of its PXE host, default pxe.<host> for the public factory")
    ca_file: Text | None = Field(None, description="PEM file of the authority that signed the factory's certificate")
    owner: Text | None = Field(None, description="owner that an Enterprise factory puts into every document")


class Image(Section):
    """Defaults of every image class; a pool may differ in its own `image`."""

    factory: Factory = Field(default_factory=Factory, description="the Image Factory")
    driver_track: Literal["production", "lts"] = Field("production", description="NVIDIA driver branch")
    extensions: tuple[Text, ...] = Field((), description="system extensions for every image, as siderolabs/<name>")
    kernel_args: tuple[Text, ...] = Field((), description="kernel arguments for every image")
