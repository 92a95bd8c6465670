"""The certificates of one cluster, issued by an authority of its own."""

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kube_client.kubeconfig import Files
from rehearsal.certificates import (
    HOSTNAME,
    Authority,
    subject,
    write_certificate,
    write_key,
)
from rehearsal.files import write_whole

# The group of Kubernetes' superusers.
ADMINISTRATORS = "system:masters"
# The client certificates: file name, user name and group.
IDENTITIES = (
    ("server", "kube-apiserver", ADMINISTRATORS),
    ("controller-manager", "system:kube-controller-manager", ""),
    ("scheduler", "system:kube-scheduler", ""),
    ("nodes", "aks-gpu:nodes", ADMINISTRATORS),
    ("user", "masterclient", ADMINISTRATORS),
)
SERVER_HOSTS = (HOSTNAME, "kubernetes.default.svc")


@dataclass(frozen=True)
class Certificates:
    """The certificate files of a cluster."""

    folder: Path

    @property
    def authority(self) -> Path:
        return self.folder / "ca.pem"

    @property
    def signing_key(self) -> Path:
        """The key that signs service account tokens."""
        return self.folder / "service-accounts-key.pem"

    @property
    def signing_public(self) -> Path:
        return self.folder / "service-accounts.pem"

    def files(self, who: str) -> Files:
        return Files(self.authority, self.certificate(who), self.key(who))

    def certificate(self, who: str) -> Path:
        return self.folder / f"{who}.pem"

    def key(self, who: str) -> Path:
        return self.folder / f"{who}-key.pem"


def prepare(folder: Path) -> Certificates:
    """Returns the certificates of a cluster; creates them for a new one."""
    files = Certificates(folder)
    folder.mkdir(parents=True, exist_ok=True)
    if files.authority.exists():
        return files
    _create_signing_key(files)
    authority = Authority.create("aks-gpu rehearsal cluster")
    for who, name, group in IDENTITIES:
        certificate, key = authority.issue(
            subject(name, group),
            is_client=True,
            hosts=SERVER_HOSTS if who == "server" else (),
        )
        write_key(files.key(who), key)
        write_certificate(files.certificate(who), certificate)
    # Written last, as the sign that all are there. Its key is not stored: it issues no more.
    write_certificate(files.authority, authority.certificate)
    return files


def _create_signing_key(files: Certificates) -> None:
    signing = ec.generate_private_key(ec.SECP256R1())
    write_key(files.signing_key, signing)
    public = signing.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write_whole(files.signing_public, public)
