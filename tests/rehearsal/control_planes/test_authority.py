"""A cluster's certificates: the same as long as they hold."""

from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from rehearsal.certificates import load_pair
from rehearsal.control_planes.authority import IDENTITIES, Certificates, prepare


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_certificates_are_used_again(tmp_path: Path) -> None:
    prepare(tmp_path)
    before = contents(tmp_path)
    prepare(tmp_path)
    assert contents(tmp_path) == before


def test_damaged_certificates_are_renewed(tmp_path: Path) -> None:
    """Only that of the authority was looked at: the API server ended at each start, for good."""
    prepare(tmp_path)
    for name, content in contents(tmp_path).items():
        damages = b"", content[: len(content) // 2], b"\xff\xfe\x00", of_another(tmp_path, name)
        for damage in damages:
            (tmp_path / name).write_bytes(damage)
            prepare(tmp_path)
            assert_whole(prepare(tmp_path), name)
        (tmp_path / name).unlink()
        prepare(tmp_path)
        assert_whole(prepare(tmp_path), name)


def of_another(folder: Path, name: str) -> bytes:
    """The file of that name of another cluster."""
    other = folder.with_name("other")
    prepare(other)
    return (other / name).read_bytes()


def assert_whole(files: Certificates, damaged: str) -> None:
    authority = x509.load_pem_x509_certificate(files.authority.read_bytes())
    for who, *_ in IDENTITIES:
        certificate, _ = load_pair(files.certificate(who), files.key(who))
        certificate.verify_directly_issued_by(authority)
    signing = serialization.load_pem_private_key(files.signing_key.read_bytes(), None)
    public = serialization.load_pem_public_key(files.signing_public.read_bytes())
    assert signing.public_key() == public, damaged
