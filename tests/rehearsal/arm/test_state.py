"""The stored state of a cloud: used as it is, or set aside as a whole."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rehearsal.arm.state import open_store
from tests.rehearsal.arm.in_process import GROUP, Arm


def stored(path: Path) -> None:
    """A group."""
    with closing(open_store(path)) as store:
        Arm(store=store)
        assert len(store.rows("SELECT * FROM resources")) == 1


def of_another_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 1")


def damaged(change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    "change",
    [
        of_another_version,
        damaged(lambda _: b"no database" * 1000),
        damaged(lambda content: content[:5000]),
        damaged(lambda content: content[:4096] + bytes(8192)),
    ],
    ids=["another version", "another file", "a part", "zeros"],
)
def test_a_state_that_cannot_be_read_is_set_aside(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], change: Callable[[Path], object]
) -> None:
    """The server did not start, and only a removal of the whole folder helped."""
    path = tmp_path / "arm.sqlite"
    stored(path)
    change(path)
    before = path.read_bytes()
    with closing(open_store(path)) as store:
        assert store.rows("SELECT * FROM resources") == []
        assert Arm(store=store).call("GET", GROUP, None, "2025-04-01").status == 200
    assert path.with_name("arm.sqlite.aside").read_bytes() == before
    assert "the cloud starts empty" in capfd.readouterr().err
    with closing(open_store(path)) as store:
        assert len(store.rows("SELECT * FROM resources")) == 1


def test_a_database_that_another_process_has_open_is_not_set_aside(tmp_path: Path) -> None:
    path = tmp_path / "arm.sqlite"
    stored(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(open_store(path)) as store:
            assert len(store.rows("SELECT * FROM resources")) == 1
