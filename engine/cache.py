"""Where finished engines are kept, and how several runs share the place."""

import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from engine.errors import WayClosedError

Say = Callable[[str], None]

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
    """Keep other runs out of a folder, which is made if need be; wait while one is in there."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(blocking=False)
    except Timeout:
        say("Another run is at the same work; waiting for it to end ...")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


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
    return place
