"""The certificates of one cluster: an authority of its own, and what it vouches for."""

from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kube.kubeconfig import Files
from rehearsal.certificates import (
    AUTHORITY_DAYS,
    HOSTNAME,
    Authority,
    subject,
    write_certificate,
    write_key,
)
from rehearsal.files import write_whole

# The group that Kubernetes lets do everything.
ADMINISTRATORS = "system:masters"
# Who presents a certificate to whom: file name, user name and group.
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

    def files(self, who: str) -> Files:
        return Files(self.authority, self.certificate(who), self.key(who))

    def certificate(self, who: str) -> Path:
        return self.folder / f"{who}.pem"

    def key(self, who: str) -> Path:
        return self.folder / f"{who}-key.pem"


def prepare(folder: Path) -> Certificates:
    """Returns the certificates of a cluster; makes them if the cluster is new."""
    files = Certificates(folder)
    if files.authority.exists():
        return files
    folder.mkdir(parents=True, exist_ok=True)
    authority = Authority.create("aks-gpu rehearsal cluster")
    for who, name, group in IDENTITIES:
        # As long as a rehearsal can last; a cluster's certificates are never renewed.
        certificate, key = authority.issue(
            subject(name, group),
            AUTHORITY_DAYS,
            is_client=True,
            hosts=SERVER_HOSTS if who == "server" else (),
        )
        write_key(files.key(who), key)
        write_certificate(files.certificate(who), certificate)
    signing = ec.generate_private_key(ec.SECP256R1())
    write_key(files.signing_key, signing)
    public = signing.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    write_whole(files.signing_public, public)
    # Last: with it, all are there. Its key is not kept, so nobody else is ever let in.
    write_certificate(files.authority, authority.certificate)
    return files
