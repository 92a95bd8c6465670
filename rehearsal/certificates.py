"""The certificate authority of a rehearsal cloud, and the certificate of its server."""

import datetime
import ipaddress
import os
import ssl
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rehearsal.arm.home import Home, write_whole
from rehearsal.certificate_parts import certificate_builder, key_usage

AUTHORITY_DAYS = 3650
SERVER_DAYS = 90
RENEW_WITHIN_DAYS = 30
HOSTNAME = "localhost"
ADDRESS = "127.0.0.1"


def prepare(home: Home) -> ssl.SSLContext:
    """Makes what is missing or about to expire; returns the context to serve with."""
    if _expires_soon(home.ca_certificate) or not home.ca_key.exists():
        _make_authority(home)
        home.server_certificate.unlink(missing_ok=True)
    if _expires_soon(home.server_certificate) or not home.server_key.exists():
        _make_server_certificate(home)
    _write_bundle(home)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(home.server_certificate, home.server_key)
    return context


def _expires_soon(path: Path) -> bool:
    if not path.exists():
        return True
    certificate = x509.load_pem_x509_certificate(path.read_bytes())
    left = certificate.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
    return left < datetime.timedelta(days=RENEW_WITHIN_DAYS)


def _make_authority(home: Home) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name(f"aks-gpu rehearsal {os.urandom(4).hex()}")
    certificate = (
        certificate_builder(name, name, key.public_key(), AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(key_usage(signs_certificates=True), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    write_whole(home.ca_key, _pem(key), 0o600)
    write_whole(home.ca_certificate, certificate.public_bytes(serialization.Encoding.PEM))


def _make_server_certificate(home: Home) -> None:
    authority = x509.load_pem_x509_certificate(home.ca_certificate.read_bytes())
    authority_key = serialization.load_pem_private_key(home.ca_key.read_bytes(), None)
    if not isinstance(authority_key, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{home.ca_key} is not the elliptic-curve key this server makes.")
    key = ec.generate_private_key(ec.SECP256R1())
    names = [x509.DNSName(HOSTNAME), x509.IPAddress(ipaddress.ip_address(ADDRESS))]
    certificate = (
        certificate_builder(_name(HOSTNAME), authority.subject, key.public_key(), SERVER_DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(key_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        # Python 3.13 and later refuse, by default, a certificate without this identifier.
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()),
            critical=False,
        )
        .sign(authority_key, hashes.SHA256())
    )
    write_whole(home.server_key, _pem(key), 0o600)
    write_whole(home.server_certificate, certificate.public_bytes(serialization.Encoding.PEM))


def _write_bundle(home: Home) -> None:
    """The roots in force today and ours: a tool pointed here still reaches the internet."""
    roots, ours = _roots_in_force(), home.ca_certificate.read_bytes()
    # A shell that looks at the rehearsal already names this very bundle, and ours is in it.
    write_whole(home.ca_bundle, roots if ours in roots else roots.rstrip() + b"\n" + ours)


def _roots_in_force() -> bytes:
    named = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile)
    for name in named:
        if name and Path(name).is_file():
            return Path(name).read_bytes()
    return Path(certifi.where()).read_bytes()


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
