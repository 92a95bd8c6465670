"""The certificates of one cluster, issued by an authority of its own."""

import datetime
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
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
from rehearsal.files import log_line, write_whole

RENEW_WITHIN_DAYS = 30
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
    """Returns the certificates of a cluster; creates them unless it has valid ones."""
    files = Certificates(folder)
    if files.authority.exists():
        if _is_valid(files.authority):
            return files
        log_line(
            f"The certificates in {folder} are not valid today; they and its kubeconfig are "
            "created again."
        )
        files.authority.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    authority = Authority.create("aks-gpu rehearsal cluster")
    for who, name, group in IDENTITIES:
        # Valid for longer than any rehearsal.
        certificate, key = authority.issue(
            subject(name, group),
            AUTHORITY_DAYS,
            is_client=True,
            hosts=SERVER_HOSTS if who == "server" else (),
        )
        write_key(files.key(who), key)
        write_certificate(files.certificate(who), certificate)
    # Tokens that were issued before stay valid.
    if not files.signing_public.exists():
        signing = ec.generate_private_key(ec.SECP256R1())
        write_key(files.signing_key, signing)
        public = signing.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        write_whole(files.signing_public, public)
    # Written last, as the sign that all are there. Its key is not stored: it issues no more.
    write_certificate(files.authority, authority.certificate)
    return files


def _is_valid(authority: Path) -> bool:
    """Whether an authority, and so its certificates, are valid for some time from now."""
    try:
        certificate = x509.load_pem_x509_certificate(authority.read_bytes())
    except ValueError:
        return False
    now = datetime.datetime.now(datetime.UTC)
    until = certificate.not_valid_after_utc - datetime.timedelta(days=RENEW_WITHIN_DAYS)
    return certificate.not_valid_before_utc <= now <= until
