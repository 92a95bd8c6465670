"""The server's certificates: its authority, its own certificate, and the bundle for clients."""

import os
import ssl
from pathlib import Path

import certifi

from rehearsal.arm.home import DamagedError, Home
from rehearsal.certificates import HOSTNAME, Authority, subject, write_certificate, write_key
from rehearsal.files import write_whole


def prepare(home: Home) -> ssl.SSLContext:
    """Returns the TLS context of the server; creates its certificates if they are not there."""
    if not home.ca_certificate.exists():
        authority = Authority.create(f"aks-gpu rehearsal {os.urandom(4).hex()}")
        certificate, key = authority.issue(subject(HOSTNAME), hosts=[HOSTNAME])
        write_key(home.server_key, key)
        write_certificate(home.server_certificate, certificate)
        # Written last, as the sign that all are there. Its key is not stored: it issues no more.
        write_certificate(home.ca_certificate, authority.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(home.server_certificate, home.server_key)
        context.load_verify_locations(home.ca_certificate)
    except OSError as error:
        raise DamagedError("a certificate of the server is damaged") from error
    _write_bundle(home)
    return context


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
