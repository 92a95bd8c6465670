"""A cluster's certificates: made once."""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from rehearsal.control_planes.authority import IDENTITIES, prepare


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_certificates_are_used_again(tmp_path: Path) -> None:
    prepare(tmp_path)
    before = contents(tmp_path)
    prepare(tmp_path)
    assert contents(tmp_path) == before


def test_the_certificates_are_of_one_authority(tmp_path: Path) -> None:
    files = prepare(tmp_path)
    authority = x509.load_pem_x509_certificate(files.authority.read_bytes())
    for who, *_ in IDENTITIES:
        certificate = x509.load_pem_x509_certificate(files.certificate(who).read_bytes())
        certificate.verify_directly_issued_by(authority)
        key = serialization.load_pem_private_key(files.key(who).read_bytes(), None)
        assert key.public_key() == certificate.public_key()
    signing = serialization.load_pem_private_key(files.signing_key.read_bytes(), None)
    public = serialization.load_pem_public_key(files.signing_public.read_bytes())
    assert signing.public_key() == public
