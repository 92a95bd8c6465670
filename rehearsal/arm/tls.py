"""The server's certificates: its authority, its own certificate, and the bundle for clients."""

import os
import ssl
from pathlib import Path

import certifi

from rehearsal.arm.home import Home
from rehearsal.certificates import (
    HOSTNAME,
    Authority,
    are_intact,
    subject,
    write_certificate,
    write_key,
)
from rehearsal.files import log_line, write_whole


def prepare(home: Home) -> ssl.SSLContext:
    """Returns the TLS context of the server; creates its certificates if they are not there."""
    own = home.server_certificate, home.server_key
    if not are_intact(home.ca_certificate, [own]):
        if home.ca_certificate.exists():
            log_line("The server's certificates are damaged and are created again.")
        authority = Authority.create(f"aks-gpu rehearsal {os.urandom(4).hex()}")
        certificate, key = authority.issue(subject(HOSTNAME), hosts=[HOSTNAME])
        write_key(home.server_key, key)
        write_certificate(home.server_certificate, certificate)
        # The authority's key is not stored: it issues no more.
        write_certificate(home.ca_certificate, authority.certificate)
    _write_bundle(home)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(*own)
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
