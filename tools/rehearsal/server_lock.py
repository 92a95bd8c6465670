"""The lock of a home: its holder is the home's server, or is about to start it.

The operating system releases it when the holder ends, however it ends. The file has the holder's
pid. A command hands the lock on to the server that it starts: a POSIX record lock could not be.
"""

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Self

if sys.platform != "win32":
    import fcntl

POLL_SECONDS = 0.05


class ServerLock:
    """The lock, held by this process and by every process that inherits its descriptor."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self.descriptor = descriptor

    @classmethod
    def inherited(cls, path: Path, descriptor: int) -> "ServerLock":
        """Returns the lock that this process inherited; its own children do not inherit it."""
        os.set_inheritable(descriptor, False)
        return cls(path, descriptor)

    @classmethod
    def take(cls, path: Path, seconds: float = 0.0) -> "ServerLock | None":
        """Takes the lock; returns None if it is still held after that many seconds."""
        deadline = time.monotonic() + seconds
        while (lock := cls._try(path)) is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return lock

    @classmethod
    def _try(cls, path: Path) -> "ServerLock | None":
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        lock = cls(path, descriptor)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # The home may have been removed in between.
            if lock.is_in_place():
                return lock
        lock.release()
        return None

    def is_in_place(self) -> bool:
        """Whether the home still has this lock file: a removed home takes its lock along."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), self._path.stat())
        except OSError:
            return False

    def write_pid(self, pid: int) -> None:
        """Writes the holder's pid into the lock file."""
        os.pwrite(self.descriptor, f"{pid}\n".encode(), 0)
        os.ftruncate(self.descriptor, len(f"{pid}\n"))

    def release(self) -> None:
        """Releases it in this process; it stays held by processes that inherited it."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether any process holds the lock."""
    if not path.exists():
        return False
    try:
        lock = ServerLock.take(path)
    except FileNotFoundError:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def holder(path: Path) -> int | None:
    """Returns the pid of the process that holds the lock; None if it is not known.

    Only the pid of a process that has the lock file open counts: it may have been given to another.
    """
    try:
        recorded = int(path.read_text())
    except (OSError, ValueError):
        return None
    return recorded if recorded > 0 and _has_open(recorded, path) else None


def _has_open(pid: int, path: Path) -> bool:
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if link.samefile(path):
                    return True
    return False
