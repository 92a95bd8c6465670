"""The lock of a home: whoever holds it is the home's server, or is about to start it.

The system gives it back when its holder ends, whatever that ends of. In it stands who holds it.
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
    """The lock, held by this process and by those that inherit its descriptor."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self.descriptor = descriptor

    @classmethod
    def inherited(cls, path: Path, descriptor: int) -> "ServerLock":
        """The lock that the process has which started this one; what this one starts has it not."""
        os.set_inheritable(descriptor, False)
        return cls(path, descriptor)

    @classmethod
    def take(cls, path: Path, seconds: float = 0.0) -> "ServerLock | None":
        """Takes the lock; returns None where it does not come free within so many seconds."""
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
            # Its home may have been taken away in between.
            if lock.is_in_place():
                return lock
        lock.release()
        return None

    def is_in_place(self) -> bool:
        """Whether it is still the lock of its home, and not that of a home that is gone."""
        try:
            return os.path.samestat(os.fstat(self.descriptor), self._path.stat())
        except OSError:
            return False

    def tell(self, pid: int) -> None:
        """Writes down who holds it."""
        os.pwrite(self.descriptor, f"{pid}\n".encode(), 0)
        os.ftruncate(self.descriptor, len(f"{pid}\n"))

    def release(self) -> None:
        """Lets go of it here; it is free when nobody else has inherited it."""
        os.close(self.descriptor)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def is_held(path: Path) -> bool:
    """Whether somebody holds the lock."""
    if not path.exists():
        return False
    try:
        lock = ServerLock.take(path)
    except FileNotFoundError:
        return False
    if lock is not None:
        lock.release()
    return lock is None


def holder(path: Path, *others: int) -> int | None:
    """The process that holds the lock; None if that cannot be told.

    It is the one that stands in the lock, or one of `others`, if it has the lock open: a number by
    itself may be another process's by now.
    """
    try:
        written = int(path.read_text())
    except (OSError, ValueError):
        written = 0
    return next((pid for pid in (written, *others) if pid > 0 and _has_open(pid, path)), None)


def _has_open(pid: int, path: Path) -> bool:
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                if link.samefile(path):
                    return True
    return False
