"""The second way to an engine: the official release archive."""

import os
import tarfile
from pathlib import Path

from engine.cache import Say, disk_is_full, machine, make_whole, used
from engine.errors import WayClosedError
from engine.pins import Pin, fetch, kept, pin_of
from engine.versions import PULUMI


def released_engine(cache: Path) -> Path | None:
    """The `pulumi` of a release that was fetched earlier."""
    place = _place(cache)
    return used(place) / "pulumi" if (place / "pulumi").exists() else None


def fetch_release(cache: Path, say: Say) -> Path:
    """Download the release for this machine, check it, and unpack it."""
    pin, place = pin_of("pulumi", machine()), _place(cache)
    downloads = place.parent / "downloads"
    make_whole(place, lambda folder: _unpack(pin, fetch(pin, downloads, say), folder), say)
    kept(pin, downloads).unlink(missing_ok=True)
    return place / "pulumi"


def _place(cache: Path) -> Path:
    return cache / "release" / f"pulumi-{PULUMI}"


def _unpack(pin: Pin, archive: Path, folder: Path) -> Path:
    """Unpack into a folder; return the one inside of it that holds the executables."""
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    except (tarfile.TarError, OSError) as error:
        if disk_is_full(error):
            raise
        raise WayClosedError(f"{pin.address} cannot be unpacked: {error}") from error
    unpacked = folder / "pulumi"
    for executable in ("pulumi", "pulumi-language-python"):
        if not os.access(unpacked / executable, os.X_OK):
            raise WayClosedError(f"{pin.address} holds no pulumi/{executable}")
    return unpacked
