"""Canonical bytes and IDs, against known pairs of the public factory and its code."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gpu_platform.planning.schematic import (
    Schematic,
    SchematicError,
    canonical,
    normalised,
    schematic_id,
    unpredictable,
)
from gpu_platform.planning.schematic_reader import parse


def extensions(*names: str) -> Schematic:
    return Schematic(extensions=tuple(f"siderolabs/{name}" for name in names))


def args(*arguments: str) -> Schematic:
    return Schematic(extra_kernel_args=arguments)


# Upstream's tests and docs, and values computed with the factory's YAML library (facts of talos, section 2).
KNOWN = [
    (Schematic(), "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"),
    (args("noapic", "nolapic"), "9cba8e32753f91a16c1837ab8abf356af021706ef284aef07380780177d9a06c"),
    (Schematic(meta=((10, "foo"),)), "d308a2a5ee2277bed5fbaa104fcbc8d59122abfa737df987a95b4ca763459a7f"),
    (
        Schematic(include_well_known_certificates=True),
        "fa8e05f142a851d3ee568eb0a8e5841eaf6b0ebc8df9a63df16ac5ed2c04f3e6",
    ),
    (Schematic(sector_size=4096), "92833e9ddd9bb9e11b2464fa5525429f01866306d52ebd882ee08d7918f6d1ea"),
    (
        Schematic(overlay_name="rpi_generic", overlay_image="siderolabs/sbc-raspberrypi"),
        "ee21ef4a5ef808a9b7484cc0dda0f25075021691c8c09a276591eedb638ea1f9",
    ),
    (extensions("amdgpu-firmware"), "d01dbf04a51b44a41d62b7c9692da0a74889277651600da6b602582654e4b402"),
    (
        Schematic(extra_kernel_args=("net.ifnames=0",), extensions=("siderolabs/gvisor", "siderolabs/intel-ucode")),
        "b8e8fbbe1b520989e6c52c8dc8303070cb42095997e76e812fa8892393e1d176",
    ),
    (
        extensions("iscsi-tools", "util-linux-tools"),
        "613e1592b2da41ae5e265e8789429f22e121aab91cb4deb6bc3c0b6262961245",
    ),
    (extensions("tailscale"), "4a0d65c669d46663f377e7161e50cfd570c401f26fd9e7bda34a0216b6f1922b"),
    (
        extensions("nvidia-open-gpu-kernel-modules-production", "nvidia-container-toolkit-production"),
        "1deaeeb1ea2e7901c21c109368a7261f52dfd9a91e9d7eea83cfd0f0e1b7d488",
    ),
    (
        extensions("nvidia-container-toolkit-production", "nvidia-open-gpu-kernel-modules-production"),
        "6698d6f136c5bb37ca8bb8482c9084305084da0a5ead1f4dcae760796f8ab3a2",
    ),
    (
        extensions("nvidia-container-toolkit-lts", "nvidia-open-gpu-kernel-modules-lts"),
        "86a5d7c9beb23b4aea2777e44ca06c8c2ceea8a874ccd2b9a6743c4f734329e0",
    ),
    (
        Schematic(
            extensions=("siderolabs/nvidia-container-toolkit-lts", "siderolabs/nvidia-open-gpu-kernel-modules-lts"),
            bootloader="sd-boot",
            enroll_keys="force",
            include_well_known_certificates=True,
        ),
        "fe992c07dcf26652ee7ec4c3941596387d82e65c17e90b4a5542c69b29d77c0c",
    ),
    (extensions("amd-ucode", "amdgpu"), "9c1d1b442d73f96dcd04e81463eb20000ab014062d22e1b083e1773336bc1dd5"),
    (
        args("vfio-pci.ids=10de:2330,10de:22a3", "default_hugepagesz=1G", "hugepagesz=1G", "hugepages=64"),
        "f080aaa4e76eef51146808e949fdaafddce49359e0c2b746eb255e944a704181",
    ),
    (
        args("a: b", "#x", "1", "0x10", "true", "~", "-", "", "it's", "x ", "é", "a\tb"),
        "f3d2edff67bd9b445b57cf2527e1c371d49e6194b79ea82031f9865a5ff392b3",
    ),
    (args("key=" + "word " * 60 + "end"), "36109040437240eed04150c5b889b7a50b183a40321adde3c8c7b08c81e11093"),
    (
        Schematic(meta=((10, "a: 1\nb: 2\n"), (12, "x"))),
        "001fedbc72b42344acd91a7457df974c491d68bc61e0ac7c4d9602f5d223fdc6",
    ),
    (
        Schematic(meta=((10, '{"externalIPs":["1.2.3.4"]}'),)),
        "fe866116408a5a13dab7d5003eb57a00954ea81ebeec3fbbcd1a6d4462a00036",
    ),
    (
        Schematic(
            embedded_machine_configuration=(
                "apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: my-custom-hostname\nauto: off\n"
            )
        ),
        "39a0ae85155bbfb04b4b9c2295fb1ed155f078f6f3a92832463132fe7ae0aab7",
    ),
    (Schematic(owner="alice"), "325e789382e85e76ab77e38cb320a816e2c9550cb5afe960b21f75e06605e2e9"),
]


@pytest.mark.parametrize(("schematic", "identity"), KNOWN, ids=[identity[:12] for _, identity in KNOWN])
def test_known_documents_have_their_known_ids(schematic: Schematic, identity: str) -> None:
    assert schematic_id(canonical(schematic)) == identity


@pytest.mark.parametrize("schematic", [schematic for schematic, _ in KNOWN], ids=[one[:12] for _, one in KNOWN])
def test_a_canonical_document_is_read_back_as_itself(schematic: Schematic) -> None:
    assert parse(canonical(schematic)) == schematic


@pytest.mark.parametrize(
    "text", ["off", "Yes", "n", "<<", "1:30", "a\x07", "a\u2028b", "\ufeff", "😀", "\n a", "a\tb\nc"]
)
def test_texts_that_releases_of_the_factory_print_differently_are_refused(text: str) -> None:
    assert unpredictable(text)
    with pytest.raises(SchematicError):
        canonical(args(text))


@given(st.lists(st.text(max_size=20).filter(lambda text: not unpredictable(text)), max_size=4))
def test_what_is_printed_is_yaml_that_means_the_same(arguments: list[str]) -> None:
    content = yaml.load(canonical(args(*arguments)), Loader=yaml.BaseLoader)  # noqa: S506 - the safest loader there is
    assert (content["customization"] or {}).get("extraKernelArgs", []) == arguments


def test_normalising_sorts_extensions_and_keeps_each_once() -> None:
    assert normalised(extensions("b", "a", "b")) == extensions("a", "b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("customisation: {}", "customisation is no key of a schematic"),
        (
            "customization:\n  systemExtensions:\n    officialExtension: [a]",
            "customization.systemExtensions.officialExtension",
        ),
        ("customization: {extraKernelArgs: a}", "customization.extraKernelArgs is no list"),
        ("customization: {}\ncustomization: {}", "key 'customization' stands twice"),
        ("customization: {bootloader: auto}", "bootloader 'auto' is not one of"),
        ("customization: {meta: [{key: 256, value: a}]}", "meta key 256 is not between 0 and 255"),
        ("", "it is empty"),
        ("[", "it is not YAML"),
    ],
)
def test_what_the_factory_would_refuse_is_refused_with_the_place(text: str, sentence: str) -> None:
    with pytest.raises(SchematicError) as raised:
        parse(text)
    assert sentence in str(raised.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("overlay: {image: a, name: b, options: {k8s: x}}", "overlay.options.k8s: only keys of letters"),
        ("overlay: {image: a, name: b, options: {speed: 1}}", "overlay.options.speed is no plain text"),
        ("overlay: {image: a, name: b, options: {deep: {er: x}}}", "overlay.options.deep is no text"),
        ("customization: {meta: [{key: ten, value: a}]}", "meta key 'ten' is no whole number"),
        ("customization: {meta: [{key: '10', value: a}]}", "meta key '10' is no whole number"),
        ("customization: {secureboot: {includeWellKnownCertificates: 'true'}}", "'true' is not true or false"),
        ("customization: {meta: [{key: 10, value: 2026-12-01}]}", "a date without quotes"),
        ("customization: [a]", "customization is no mapping"),
    ],
)
def test_what_cannot_be_predicted_is_refused_with_the_place(text: str, sentence: str) -> None:
    with pytest.raises(SchematicError) as raised:
        parse(text)
    assert sentence in str(raised.value)


def test_overlay_options_are_printed_in_the_factorys_order() -> None:
    read = parse("overlay: {image: a, name: b, options: {zeta: x, alpha: 'y: z', Beta: b}}")
    assert canonical(read) == (
        "overlay:\n    image: a\n    name: b\n    options:\n"
        "        Beta: b\n        alpha: 'y: z'\n        zeta: x\n"
        "customization: {}\n"
    )


@pytest.mark.parametrize(
    ("text", "printed"),
    [("2026-12-01", '"2026-12-01"'), ("2026-13-01", "2026-13-01"), ("0000-01-01", '"0000-01-01"'), ("a\n b", None)],
)
def test_dates_are_quoted_and_what_is_none_is_not(text: str, printed: str | None) -> None:
    shown = canonical(args(text)).split("- ", 1)[1].rstrip("\n")
    assert shown == (printed or "|-\n          a\n           b")


def test_what_is_nothing_is_dropped_and_truth_is_read_as_the_factory_does() -> None:
    text = "customization: {extraKernelArgs: [~, a, null], secureboot: {includeWellKnownCertificates: %s}}"
    read = {word: parse(text % word) for word in ("TRUE", "False", "~")}
    assert [one.include_well_known_certificates for one in read.values()] == [True, False, False]
    assert all(one.extra_kernel_args == ("a",) for one in read.values())
