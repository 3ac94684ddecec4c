"""Boot files of a few bytes: what the factory's imager needs to see before it assembles an installer."""

from __future__ import annotations

import struct

ARCHITECTURES = ("amd64", "arm64")
_CODE, _DATA = 0x60000020, 0x40000040
_ALIGNED, _HEADERS = 0x200, 0x400
_OPTIONAL_HEADER = 0x70 + 16 * 8


def boot_files() -> dict[str, bytes]:
    """Return the files of siderolabs/imager by path; nothing can boot from them."""
    loader = efi_program()
    files = {"vmlinuz": b"no kernel\n", "initramfs.xz": b"no initramfs\n"}
    files |= {"systemd-boot.efi": loader, "systemd-stub.efi": loader}
    return {f"usr/install/{arch}/{name}": data for arch in ARCHITECTURES for name, data in files.items()}


def efi_program() -> bytes:
    """Return the least PE32+ file of which a unified kernel image can be assembled: code and a revocation table."""
    sections = [(b".text", b"\xc3", _CODE), (b".sbat", b"sbat,1,SBAT Version,sbat,1,https://example.com\n", _DATA)]
    headers, bodies = b"", b""
    for number, (name, data, flags) in enumerate(sections, start=1):
        place = (len(data), 0x1000 * number, _ALIGNED, _HEADERS + _ALIGNED * (number - 1))
        headers += struct.pack("<8s4I", name, *place) + struct.pack("<IIHHI", 0, 0, 0, 0, flags)
        bodies += data.ljust(_ALIGNED, b"\0")
    dos = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40)
    coff = b"PE\0\0" + struct.pack("<HHIIIHH", 0x8664, len(sections), 0, 0, 0, _OPTIONAL_HEADER, 0x22E)
    return (dos + coff + _optional_header(len(sections)) + headers).ljust(_HEADERS, b"\0") + bodies


def _optional_header(sections: int) -> bytes:
    """Return the header of an EFI application: magic, sizes, alignments, subsystem, sixteen empty directories."""
    start = struct.pack("<HBBIIIII", 0x20B, 0, 0, _ALIGNED, _ALIGNED, 0, 0x1000, 0x1000)
    image = struct.pack("<QII", 0, 0x1000, _ALIGNED) + struct.pack("<6H", 0, 0, 0, 0, 0, 0)
    sizes = struct.pack("<IIII", 0, 0x1000 * (sections + 1), _HEADERS, 0)
    rest = struct.pack("<HH", 10, 0) + struct.pack("<4Q", 0, 0, 0, 0) + struct.pack("<II", 0, 16)
    return (start + image + sizes + rest).ljust(_OPTIONAL_HEADER, b"\0")
