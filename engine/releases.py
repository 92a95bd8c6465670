"""Pulumi engine, second source: the official release."""

import os
import tarfile
from pathlib import Path

from engine.cache import Say, disk_is_full, machine, make_whole, used
from engine.errors import SourceUnavailableError
from engine.pins import Pin, cached_path, fetch, pin_of
from engine.versions import PULUMI


def released_engine(cache: Path) -> Path | None:
    """Returns the `pulumi` of a release that was downloaded earlier."""
    place = _place(cache)
    return used(place) / "pulumi" if (place / "pulumi").exists() else None


def fetch_release(cache: Path, say: Say) -> Path:
    """Downloads the release for this machine, checks it, and unpacks it."""
    pin, place = pin_of("pulumi", machine()), _place(cache)
    downloads = place.parent / "downloads"
    make_whole(place, lambda folder: _unpack(pin, fetch(pin, downloads, say), folder), say)
    cached_path(pin, downloads).unlink(missing_ok=True)
    return place / "pulumi"


def _place(cache: Path) -> Path:
    return cache / "release" / f"pulumi-{PULUMI}"


def _unpack(pin: Pin, archive: Path, folder: Path) -> Path:
    """Unpacks the archive into a folder; returns the folder inside with the executables."""
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    except (tarfile.TarError, OSError) as error:
        if disk_is_full(error):
            raise
        raise SourceUnavailableError(f"{pin.address} cannot be unpacked: {error}") from error
    unpacked = folder / "pulumi"
    for executable in ("pulumi", "pulumi-language-python"):
        if not os.access(unpacked / executable, os.X_OK):
            raise SourceUnavailableError(f"{pin.address} does not contain pulumi/{executable}")
    return unpacked
