"""Kubernetes binaries, first source: the pinned releases of their projects."""

import shutil
import tarfile
from collections.abc import Mapping
from pathlib import Path

from engine.cache import Say, disk_is_full, machine, make_whole, used
from engine.errors import SourceUnavailableError
from engine.pins import Pin, cached_path, fetch, pin_of
from engine.versions import ETCD, KUBERNETES, KWOK

# The executables of each archive: their folder in it, and their names. kwok is not an archive.
_EXECUTABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "kubernetes": (
        "kubernetes/server/bin",
        ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"),
    ),
    "etcd": ("{archive}", ("etcd",)),
    "kwok": ("", ("kwok",)),
}


def fetched_folder(cache: Path) -> Path | None:
    """Returns the folder of binaries that were downloaded earlier."""
    place = _place(cache)
    return used(place) if place.exists() else None


def fetch_folder(cache: Path, say: Say) -> Path:
    """Downloads all of them for this machine, checks them, and puts them into one folder."""
    published = [pin_of(name, machine()) for name in _EXECUTABLES]
    place = _place(cache)
    downloads = place.parent / "downloads"

    def fill(folder: Path) -> Path:
        # All are downloaded before the first is unpacked.
        for pin, archive in [(pin, fetch(pin, downloads, say)) for pin in published]:
            _unpack(pin, archive, folder)
        return folder

    make_whole(place, fill, say)
    for pin in published:
        cached_path(pin, downloads).unlink(missing_ok=True)
    return place


def _place(cache: Path) -> Path:
    return cache / "release" / f"kubernetes-{KUBERNETES}-etcd-{ETCD}-kwok-{KWOK}"


def _unpack(pin: Pin, archive: Path, folder: Path) -> None:
    inside, names = _EXECUTABLES[pin.name]
    if not inside:
        shutil.copyfile(archive, folder / names[0])
    else:
        top = inside.format(archive=pin.file.removesuffix(".tar.gz"))
        _extract(pin, archive, {f"{top}/{name}": folder / name for name in names})
    for name in names:
        (folder / name).chmod(0o755)


def _extract(pin: Pin, archive: Path, places: Mapping[str, Path]) -> None:
    """Extracts the given members of an archive, and nothing else."""
    missing = dict(places)
    try:
        with tarfile.open(archive) as tar:
            # In the order of the archive, which is read only once.
            for member in tar:
                content = tar.extractfile(member) if member.name in missing else None
                if content is not None:
                    with missing.pop(member.name).open("wb") as output:
                        shutil.copyfileobj(content, output)
                if not missing:
                    return
    except (tarfile.TarError, OSError) as error:
        if disk_is_full(error):
            raise
        raise SourceUnavailableError(f"{pin.address} cannot be unpacked: {error}") from error
    raise SourceUnavailableError(f"{pin.address} does not contain {', '.join(missing)}")
