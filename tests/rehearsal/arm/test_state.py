"""The stored state of a cloud: used as it is, or not at all."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from rehearsal.arm.home import DamagedError
from rehearsal.arm.state import open_store
from tests.rehearsal.arm.in_process import Arm


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
def test_a_state_that_cannot_be_read_is_damaged(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    path = tmp_path / "arm.sqlite"
    stored(path)
    change(path)
    with pytest.raises(DamagedError, match=r"arm\.sqlite (is damaged: |was written by another)"):
        open_store(path)


def test_a_database_that_another_process_has_open_is_not_damaged(tmp_path: Path) -> None:
    path = tmp_path / "arm.sqlite"
    stored(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with closing(open_store(path)) as store:
            assert len(store.rows("SELECT * FROM resources")) == 1
