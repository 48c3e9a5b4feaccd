"""Certificates of a hostile portal: one that is trusted, and three that are not."""

from __future__ import annotations

import ipaddress
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

Pair = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def authority(folder: Path) -> Path:
    """Where the certificate of the authority stands."""
    return folder / "authority.pem"


def context_with(kind: str, folder: Path) -> ssl.SSLContext:
    """A server's side of TLS with a trusted, self-signed, expired or other-host certificate."""
    root = _made("Authority of the hostile portal", None, days=(-1, 10))
    days = (-20, -10) if kind == "expired" else (-1, 10)
    host = "other.example.test" if kind == "other-host" else "127.0.0.1"
    leaf = _made(host, None if kind == "self-signed" else root, days=days)
    authority(folder).write_bytes(root[0].public_bytes(serialization.Encoding.PEM))
    own = folder / f"{kind}.pem"
    own.write_bytes(
        leaf[1].private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        + leaf[0].public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own)
    return context


def _made(host: str, issuer: Pair | None, *, days: tuple[int, int]) -> Pair:
    """A certificate for a host; without an issuer it signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    names: list[x509.GeneralName] = [x509.DNSName(host.replace(" ", "-"))]
    if host == "127.0.0.1":
        names = [x509.IPAddress(ipaddress.ip_address(host))]
    signer = issuer or (None, key)
    today = datetime.now(UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer[0].subject if issuer else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today + timedelta(days=days[0]))
        .not_valid_after(today + timedelta(days=days[1]))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .sign(signer[1], hashes.SHA256())
    )
    return built, key
