"""The cache of downloaded and built programs, which several runs share."""

import errno
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from machine_setup.errors import EngineUnavailableError, SourceUnavailableError

Say = Callable[[str], None]

# Entries that no run has used for this long are removed when a new one is added. Other checkouts
# may use other versions, and each use counts.
_UNUSED_SECONDS = 30 * 24 * 60 * 60
_LOCK = "lock"

_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def machine() -> str:
    """Returns this machine's platform as release archives name it, such as `linux-x64`."""
    system = _SYSTEMS.get(platform.system())
    architecture = _ARCHITECTURES.get(platform.machine().lower())
    if system is None or architecture is None:
        raise SourceUnavailableError(
            f"{platform.system()} on {platform.machine()} is not supported. On Windows, put "
            "pulumi on PATH, or use the Windows Subsystem for Linux."
        )
    return f"{system}-{architecture}"


def engine_cache() -> Path:
    """Returns the user's folder of engines for this platform (machines may share a home)."""
    return user_cache() / "engine" / machine()


def user_cache() -> Path:
    """Returns the user's cache folder of this project."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # By the XDG specification, a relative path is ignored.
    if configured.is_absolute():
        return configured / "aks-gpu"
    try:
        return Path.home().absolute() / ".cache" / "aks-gpu"
    except RuntimeError:
        # As in a container with an arbitrary user.
        raise EngineUnavailableError(
            "Your user has no home, and so no cache: set HOME or XDG_CACHE_HOME to a folder of "
            "yours."
        ) from None


@contextmanager
def sole_use(folder: Path, say: Say) -> Iterator[None]:
    """Locks a folder, creating it if needed; waits while another run holds the lock.

    A full disk raises EngineUnavailableError, since every other source needs room too.
    """
    try:
        lock = FileLock(folder / _LOCK)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(blocking=False)
        except Timeout:
            say("Another run does the same work; waiting for it to end ...")
            lock.acquire()
        except OSError as error:
            if disk_is_full(error):
                raise
            raise EngineUnavailableError(
                f"The cache {folder} cannot be written: {error.strerror}. Set XDG_CACHE_HOME to a "
                "folder of yours."
            ) from error
        try:
            yield
        finally:
            lock.release()
    except OSError as error:
        if disk_is_full(error):
            raise no_room(folder) from error
        raise


def disk_is_full(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def no_room(folder: Path) -> EngineUnavailableError:
    return EngineUnavailableError(
        f"The disk of {folder}, or your quota on it, is full. Free some space and try again."
    )


def used(place: Path) -> Path:
    """Marks an entry of the cache as used now."""
    # The cache may belong to another user.
    with suppress(OSError):
        os.utime(place)
    return place


def prune(folder: Path, names: str = "*") -> None:
    """Removes entries that were not used for long from a locked folder."""
    oldest = time.time() - _UNUSED_SECONDS
    for thing in folder.glob(names):
        if thing.name == _LOCK or thing.stat().st_mtime >= oldest:
            continue
        if thing.is_dir():
            shutil.rmtree(thing, ignore_errors=True)
        else:
            thing.unlink()


def make_whole(place: Path, fill: Callable[[Path], Path], say: Say) -> Path:
    """Makes a folder completely or not at all; returns an existing one as it is.

    `fill` gets an empty folder, and returns the folder that becomes the finished one.
    """
    unfinished = place.parent / "unfinished"
    with sole_use(place.parent, say):
        if not place.exists():
            # A killed run may have left one behind.
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            try:
                fill(unfinished).rename(place)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
            # Its own kind: what else lies there has folders within.
            prune(used(place).parent, f"{place.name.partition('-')[0]}-*")
    return place
