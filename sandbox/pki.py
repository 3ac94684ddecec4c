"""A throw-away PKI for a control plane on 127.0.0.1: ECDSA P-256, gone with the sandbox."""

from __future__ import annotations

import datetime as dt
import ipaddress
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from pathlib import Path

DAYS = 30
API_SERVER_NAMES = ("localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")


class Authority:
    """A certificate authority whose certificates land in one directory as NAME.crt and NAME.key."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory = directory
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _subject(name)
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        certificate = self._builder(self._subject, self._key.public_key()).add_extension(constraints, critical=True)
        _write(directory, name, certificate.sign(self._key, hashes.SHA256()), self._key)

    def issue(self, file: str, user: str, *, group: str | None = None, server: bool = False) -> None:
        """Write a certificate for `user` (of `group`), for a server on loopback or for a client."""
        key = ec.generate_private_key(ec.SECP256R1())
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        builder = self._builder(_subject(user, group), key.public_key())
        builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        if server:
            addresses: list[x509.GeneralName] = [x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            names = [*addresses, *(x509.DNSName(name) for name in API_SERVER_NAMES)]
            builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        _write(self._directory, file, builder.sign(self._key, hashes.SHA256()), key)

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._subject)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(minutes=5))
            .not_valid_after(now + dt.timedelta(days=DAYS))
        )


def make(directory: Path) -> None:
    """Write everything that the control plane and its clients need into `directory`, readable by the owner alone."""
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    cluster, front = Authority(directory, "ca"), Authority(directory, "front-ca")
    cluster.issue("apiserver", "kube-apiserver", server=True)
    cluster.issue("admin", "kubernetes-admin", group="system:masters")
    cluster.issue("controller-manager", "system:kube-controller-manager")
    cluster.issue("scheduler", "system:kube-scheduler")
    front.issue("front-client", "front-proxy-client")
    # Some clients of service-account tokens know RS256 and nothing else.
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    _write_key(directory / "sa.key", key)
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (directory / "sa.pub").write_bytes(public)


def write_signing_key(path: Path) -> None:
    """Write an ECDSA key in the form that the Image Factory signs its cache with."""
    _write_key(path, ec.generate_private_key(ec.SECP256R1()))


def _subject(name: str, group: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, name)]
    return x509.Name([*parts, *([x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else [])])


def _write(directory: Path, name: str, certificate: x509.Certificate, key: ec.EllipticCurvePrivateKey) -> None:
    (directory / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    _write_key(directory / f"{name}.key", key)


def _write_key(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    path.touch(mode=0o600)
    form = serialization.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
