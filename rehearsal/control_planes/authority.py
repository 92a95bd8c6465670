"""The certificates of one cluster: an authority of its own, and what it vouches for."""

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
    """Returns the certificates of a cluster; makes them if it has none that hold today."""
    files = Certificates(folder)
    if files.authority.exists():
        if _holds(files.authority):
            return files
        log_line(
            f"The certificates in {folder} do not hold today; they and its kubeconfig are new."
        )
        files.authority.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    authority = Authority.create("aks-gpu rehearsal cluster")
    for who, name, group in IDENTITIES:
        # As long as a rehearsal can last.
        certificate, key = authority.issue(
            subject(name, group),
            AUTHORITY_DAYS,
            is_client=True,
            hosts=SERVER_HOSTS if who == "server" else (),
        )
        write_key(files.key(who), key)
        write_certificate(files.certificate(who), certificate)
    # The tokens that were given out before stay good.
    if not files.signing_public.exists():
        signing = ec.generate_private_key(ec.SECP256R1())
        write_key(files.signing_key, signing)
        public = signing.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
        write_whole(files.signing_public, public)
    # Last: with it, all are there. Its key is not kept, so nobody else is ever let in.
    write_certificate(files.authority, authority.certificate)
    return files


def _holds(authority: Path) -> bool:
    """Whether an authority, and with it what it vouches for, holds from now until some time."""
    try:
        made = x509.load_pem_x509_certificate(authority.read_bytes())
    except ValueError:
        return False
    now = datetime.datetime.now(datetime.UTC)
    until = made.not_valid_after_utc - datetime.timedelta(days=RENEW_WITHIN_DAYS)
    return made.not_valid_before_utc <= now <= until
