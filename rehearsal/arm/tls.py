"""The server's certificates: its authority, its own certificate, and the bundle for clients."""

import datetime
import os
import ssl
from pathlib import Path

import certifi
from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec

from rehearsal.arm.home import Home
from rehearsal.certificates import (
    HOSTNAME,
    Authority,
    load_pair,
    subject,
    write_certificate,
    write_key,
)
from rehearsal.files import log_line, write_whole

SERVER_DAYS = 90
RENEW_WITHIN_DAYS = 30


def prepare(home: Home) -> ssl.SSLContext:
    """Creates missing certificates; returns the TLS context of the server."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    renew(home, context)
    return context


def renew(home: Home, context: ssl.SSLContext) -> None:
    """Creates certificates that are missing, damaged, about to expire, or not valid yet."""
    authority = _usable(home.ca_certificate, home.ca_key)
    if authority is None:
        ca = Authority.create(f"aks-gpu rehearsal {os.urandom(4).hex()}")
        write_key(home.ca_key, ca.key)
        write_certificate(home.ca_certificate, ca.certificate)
    else:
        ca = Authority(*authority)
    own = _usable(home.server_certificate, home.server_key)
    if own is None or not _is_of(own[0], ca):
        certificate, key = ca.issue(subject(HOSTNAME), SERVER_DAYS, hosts=[HOSTNAME])
        write_key(home.server_key, key)
        write_certificate(home.server_certificate, certificate)
    _write_bundle(home)
    context.load_cert_chain(home.server_certificate, home.server_key)


def _usable(
    certificate: Path, key: Path
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None:
    """Returns a certificate and its key, if they are intact and valid for some time."""
    if not certificate.exists() and not key.exists():
        return None
    try:
        leaf, loaded = load_pair(certificate, key)
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        log_line(f"{certificate.name} and its key are created again: {error}")
        return None
    now = datetime.datetime.now(datetime.UTC)
    least = now + datetime.timedelta(days=RENEW_WITHIN_DAYS)
    # After the clock is set back it may not be valid yet.
    return (
        (leaf, loaded)
        if leaf.not_valid_before_utc <= now and leaf.not_valid_after_utc >= least
        else None
    )


def _is_of(certificate: x509.Certificate, authority: Authority) -> bool:
    try:
        certificate.verify_directly_issued_by(authority.certificate)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _write_bundle(home: Home) -> None:
    """Joins the system's roots with ours, so that tools still reach the internet."""
    roots, ours = _roots_in_force(), home.ca_certificate.read_bytes()
    # In a shell set up for this rehearsal, the roots in force are already this bundle.
    bundle = roots if ours in roots else roots.rstrip() + b"\n" + ours
    if not home.ca_bundle.exists() or home.ca_bundle.read_bytes() != bundle:
        write_whole(home.ca_bundle, bundle)


def _roots_in_force() -> bytes:
    for name in (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile):
        if name and Path(name).is_file():
            return Path(name).read_bytes()
    return Path(certifi.where()).read_bytes()
