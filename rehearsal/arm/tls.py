"""The certificates of the server: its authority, its own, and the bundle that clients trust."""

import datetime
import os
import ssl
from pathlib import Path

import certifi
from cryptography import x509

from rehearsal.arm.home import Home
from rehearsal.certificates import HOSTNAME, Authority, subject, write_certificate, write_key
from rehearsal.files import write_whole

SERVER_DAYS = 90
RENEW_WITHIN_DAYS = 30


def prepare(home: Home) -> ssl.SSLContext:
    """Makes what is missing or about to expire; returns the context to serve with."""
    if _expires_soon(home.ca_certificate) or not home.ca_key.exists():
        authority = Authority.create(f"aks-gpu rehearsal {os.urandom(4).hex()}")
        write_key(home.ca_key, authority.key)
        write_certificate(home.ca_certificate, authority.certificate)
        home.server_certificate.unlink(missing_ok=True)
    if _expires_soon(home.server_certificate) or not home.server_key.exists():
        authority = Authority.load(home.ca_certificate, home.ca_key)
        certificate, key = authority.issue(subject(HOSTNAME), SERVER_DAYS, hosts=[HOSTNAME])
        write_key(home.server_key, key)
        write_certificate(home.server_certificate, certificate)
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


def _write_bundle(home: Home) -> None:
    """Joins the roots in force with ours: a tool pointed here still reaches the internet."""
    roots, ours = _roots_in_force(), home.ca_certificate.read_bytes()
    # A shell set up for this rehearsal already names this very bundle, with ours in it.
    write_whole(home.ca_bundle, roots if ours in roots else roots.rstrip() + b"\n" + ours)


def _roots_in_force() -> bytes:
    for name in (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile):
        if name and Path(name).is_file():
            return Path(name).read_bytes()
    return Path(certifi.where()).read_bytes()
