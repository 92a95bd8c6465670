"""Programs of their publishers: downloaded, checked by their pins, and unpacked."""

import shutil
import tarfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import IO

from machine_setup.cache import Say, disk_is_full, machine, make_whole, used
from machine_setup.errors import SourceUnavailableError
from machine_setup.pins import VERSIONS, Pin, cached_path, fetch, pin_of

# What is taken out of each archive; `*` stands for what else is there. kwok is no archive.
_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "pulumi": ("pulumi/pulumi", "pulumi/pulumi-language-python", "pulumi/*"),
    "kubernetes": tuple(
        f"kubernetes/server/bin/{name}"
        for name in ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    ),
    "etcd": ("{archive}/etcd",),
    "kwok": (),
    "kubelogin": ("bin/*/kubelogin",),
}


def released(cache: Path, *names: str) -> Path | None:
    """Returns the folder of programs that were downloaded earlier."""
    place = _place(cache, names)
    return used(place) if place.exists() else None


def fetch_released(cache: Path, say: Say, *names: str) -> Path:
    """Downloads programs for this machine, checks them, and puts them into one folder."""
    published = [pin_of(name, machine()) for name in names]
    place = _place(cache, names)
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


def _place(cache: Path, names: tuple[str, ...]) -> Path:
    return cache / "release" / "-".join(f"{name}-{VERSIONS[name]}" for name in names)


def _unpack(pin: Pin, archive: Path, folder: Path) -> None:
    """Puts the programs of an archive into a folder, and nothing else."""
    stem = pin.file.removesuffix(".tar.gz")
    patterns = [pattern.format(archive=stem) for pattern in _MEMBERS[pin.name]]
    missing = list(patterns)
    try:
        if not patterns:
            shutil.copyfile(archive, folder / pin.name)
        for name, content in _matching(archive, patterns):
            with (folder / Path(name).name).open("wb") as output:
                shutil.copyfileobj(content, output)
            missing = [pattern for pattern in missing if not fnmatch(name, pattern)]
            # Some archives are large, and begin with what is needed.
            if not missing and not any("*" in pattern for pattern in patterns):
                break
    except (tarfile.TarError, zipfile.BadZipFile, KeyError, OSError) as error:
        if disk_is_full(error):
            raise
        raise SourceUnavailableError(f"{pin.address} cannot be unpacked: {error}") from error
    if missing:
        raise SourceUnavailableError(f"{pin.address} does not contain {', '.join(missing)}")
    for file in folder.iterdir():
        file.chmod(0o755)


def _matching(archive: Path, patterns: Sequence[str]) -> Iterator[tuple[str, IO[bytes]]]:
    """Yields the files of an archive with such names, in its order: it is read only once."""

    def is_wanted(name: str) -> bool:
        return any(fnmatch(name, pattern) for pattern in patterns)

    if not patterns:
        return
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for name in filter(is_wanted, zipped.namelist()):
                yield name, zipped.open(name)
        return
    with tarfile.open(archive) as tar:
        for member in tar:
            content = tar.extractfile(member) if is_wanted(member.name) else None
            if content is not None:
                yield member.name, content
