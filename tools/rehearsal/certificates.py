"""Certificate authorities, the certificates that they issue, and their keys."""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rehearsal.files import write_whole

HOSTNAME = "localhost"
ADDRESS = "127.0.0.1"
# Longer than any rehearsal lives.
DAYS = 3650
# How far the clock may be set back.
CLOCK_DAYS = 30


@dataclass(frozen=True)
class Authority:
    """A certificate authority and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @classmethod
    def create(cls, common_name: str) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        name = subject(common_name)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        builder = _builder(name, name, key, is_authority=True)
        builder = builder.add_extension(identifier, critical=False)
        return cls(builder.sign(key, hashes.SHA256()), key)

    def issue(
        self, name: x509.Name, *, is_client: bool = False, hosts: Sequence[str] = ()
    ) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
        """Issues a certificate for a client, for a server with the given host names, or both."""
        key = ec.generate_private_key(ec.SECP256R1())
        usages = [ExtendedKeyUsageOID.CLIENT_AUTH] * is_client
        usages += [ExtendedKeyUsageOID.SERVER_AUTH] * bool(hosts)
        # Python 3.13 and later refuse, by default, a certificate without this identifier.
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key())
        builder = (
            _builder(name, self.certificate.subject, key, is_authority=False)
            .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
            .add_extension(issuer, critical=False)
        )
        if hosts:
            address = x509.IPAddress(ipaddress.ip_address(ADDRESS))
            names = x509.SubjectAlternativeName([*map(x509.DNSName, hosts), address])
            builder = builder.add_extension(names, critical=False)
        return builder.sign(self.key, hashes.SHA256()), key


def subject(common_name: str, organization: str = "") -> x509.Name:
    names = [x509.NameAttribute(NameOID.COMMON_NAME, common_name)]
    if organization:
        names.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization))
    return x509.Name(names)


def write_certificate(path: Path, certificate: x509.Certificate) -> None:
    write_whole(path, certificate.public_bytes(serialization.Encoding.PEM))


def write_key(path: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    write_whole(path, pem, 0o600)


def _builder(
    name: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=is_authority,
        crl_sign=is_authority,
        encipher_only=False,
        decipher_only=False,
    )
    constraints = x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None)
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        # So that it stays valid when the clock is set back.
        .not_valid_before(now - datetime.timedelta(days=CLOCK_DAYS))
        .not_valid_after(now + datetime.timedelta(days=DAYS))
        .add_extension(constraints, critical=True)
        .add_extension(usage, critical=True)
    )
