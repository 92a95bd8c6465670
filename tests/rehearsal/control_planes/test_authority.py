"""A cluster's certificates: the same as long as they hold."""

from pathlib import Path

from rehearsal.control_planes.authority import prepare


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_certificates_are_used_again(tmp_path: Path) -> None:
    prepare(tmp_path)
    before = contents(tmp_path)
    prepare(tmp_path)
    assert contents(tmp_path) == before
