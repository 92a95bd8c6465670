"""Where finished engines are kept, and how several runs share the place."""

import errno
import os
import platform
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import EngineUnavailableError, WayClosedError

Say = Callable[[str], None]

# What no run has used for so long is removed when something new is made beside it. Other checkouts
# may be at other versions, and each use counts.
_UNUSED_SECONDS = 30 * 24 * 60 * 60
_LOCK = "lock"

_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


def machine() -> str:
    """This machine's kind, in the words of the release archives, such as `linux-x64`."""
    system = _SYSTEMS.get(platform.system())
    architecture = _ARCHITECTURES.get(platform.machine().lower())
    if system is None or architecture is None:
        raise WayClosedError(
            f"{platform.system()} on {platform.machine()} is not provided for. On Windows, put "
            "pulumi on PATH, or work inside the Windows Subsystem for Linux."
        )
    return f"{system}-{architecture}"


def engine_cache() -> Path:
    """The user's folder of engines for this kind of machine (a home may be shared by several)."""
    return user_cache() / "engine" / machine()


def user_cache() -> Path:
    """The user's cache folder of this project."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG specification wants a relative path ignored.
    base = given if given.is_absolute() else Path.home() / ".cache"
    return base / "aks-gpu"


@contextmanager
def sole_use(folder: Path, say: Say) -> Iterator[None]:
    """Keep other runs out of a folder, which is made if need be; wait while one is in there.

    Should the disk get full, there is no use in another way, which needs room as well.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK)
        try:
            lock.acquire(blocking=False)
        except Timeout:
            say("Another run is at the same work; waiting for it to end ...")
            lock.acquire()
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
        f"The disk that has {folder} is full, or your share of it is. Make room, and try again."
    )


def used(place: Path) -> Path:
    """Note that a thing of the cache is in use."""
    # Somebody else's cache can be used, too.
    with suppress(OSError):
        os.utime(place)
    return place


def prune(folder: Path, names: str = "*") -> None:
    """Remove from a folder, which must be locked, what has not been used for long."""
    oldest = time.time() - _UNUSED_SECONDS
    for thing in folder.glob(names):
        if thing.name == _LOCK or thing.stat().st_mtime >= oldest:
            continue
        if thing.is_dir():
            shutil.rmtree(thing, ignore_errors=True)
        else:
            thing.unlink()


def make_whole(place: Path, fill: Callable[[Path], Path], say: Say) -> Path:
    """Make a folder that is there whole or not at all; one that is there already is taken.

    `fill` gets an empty folder, and returns the folder that is to become the finished one.
    """
    unfinished = place.parent / "unfinished"
    with sole_use(place.parent, say):
        if not place.exists():
            # A run that was killed may have left one.
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            try:
                fill(unfinished).rename(place)
            finally:
                shutil.rmtree(unfinished, ignore_errors=True)
            # Its own kind: what else lies there has folders within.
            prune(used(place).parent, f"{place.name.partition('-')[0]}-*")
    return place
