"""The certificates of one cluster: an authority of its own, and what it vouches for."""

import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from rehearsal.arm.home import write_whole
from rehearsal.certificate_parts import certificate_builder, key_usage

# As long as a rehearsal can last; a cluster's certificates are never renewed.
DAYS = 3650
ADDRESS = "127.0.0.1"
# The group that Kubernetes lets do everything.
ADMINISTRATORS = "system:masters"


@dataclass(frozen=True)
class Identity:
    """Who a certificate speaks for: a name, and the group it belongs to."""

    name: str
    group: str = ""


# All that the control plane's parts and its users present to one another.
SERVER = Identity("kube-apiserver", ADMINISTRATORS)
IDENTITIES = {
    "server": SERVER,
    "controller-manager": Identity("system:kube-controller-manager"),
    "scheduler": Identity("system:kube-scheduler"),
    "nodes": Identity("aks-gpu:nodes", ADMINISTRATORS),
    "user": Identity("masterclient", ADMINISTRATORS),
}


@dataclass(frozen=True)
class Certificates:
    """The files, by whom they are for."""

    folder: Path

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def signing_key(self) -> Path:
        """What service account tokens are signed with."""
        return self.folder / "service-accounts-key.pem"

    @property
    def signing_public(self) -> Path:
        return self.folder / "service-accounts.pem"

    def certificate(self, who: str) -> Path:
        return self.folder / f"{who}.pem"

    def key(self, who: str) -> Path:
        return self.folder / f"{who}-key.pem"


def prepare(folder: Path) -> Certificates:
    """The certificates of a cluster, made if this is its beginning."""
    files = Certificates(folder)
    if files.authority.exists():
        return files
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "aks-gpu rehearsal cluster")])
    authority = (
        certificate_builder(name, name, key.public_key(), DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .add_extension(key_usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    for who, identity in IDENTITIES.items():
        _issue(files, who, identity, authority, key)
    signing = ec.generate_private_key(ec.SECP256R1())
    write_whole(files.signing_key, _pem(signing), 0o600)
    public = signing.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write_whole(files.signing_public, public)
    # Last: with it, all are there. Its key is not kept, so nobody else is ever let in.
    write_whole(files.authority, authority.public_bytes(serialization.Encoding.PEM))
    return files


def _issue(
    files: Certificates,
    who: str,
    identity: Identity,
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, identity.name)]
    if identity.group:
        subject.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, identity.group))
    builder = (
        certificate_builder(x509.Name(subject), authority.subject, key.public_key(), DAYS)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(key_usage(signs_certificates=False), critical=True)
        .add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]
                if identity is SERVER
                else [ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()),  # type: ignore[arg-type]
            critical=False,
        )
    )
    if identity is SERVER:
        names = [
            x509.DNSName("localhost"),
            x509.DNSName("kubernetes.default.svc"),
            x509.IPAddress(ipaddress.ip_address(ADDRESS)),
        ]
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    certificate = builder.sign(authority_key, hashes.SHA256())
    write_whole(files.key(who), _pem(key), 0o600)
    write_whole(files.certificate(who), certificate.public_bytes(serialization.Encoding.PEM))


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
