"""The second way to an engine: the official release archive."""

import hashlib
import http.client
import os
import tarfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

from engine.cache import Say, machine, make_whole
from engine.errors import EngineUnavailableError, WayClosedError
from engine.progress import Progress
from engine.versions import PULUMI

RELEASES_VARIABLE = "AKS_GPU_PULUMI_RELEASES"
# Reads the published checksum of a file, by its name, out of the file of checksums.
ChecksumOf = Callable[[str, Path], str | None]
_OFFICIAL = "https://github.com/pulumi/pulumi/releases/download"

# For reaching the site, and for each piece of the answer; not for the whole download.
_PATIENCE_SECONDS = 10
_PIECE = 1 << 18


def released_engine(cache: Path) -> Path | None:
    """The `pulumi` of a release that was fetched earlier."""
    pulumi = _place(cache) / "pulumi"
    return pulumi if pulumi.exists() else None


def fetch_release(cache: Path, say: Say) -> Path:
    """Download the release for this machine, check it, and unpack it."""
    return make_whole(_place(cache), lambda folder: _fetch_into(folder, say), say) / "pulumi"


def _place(cache: Path) -> Path:
    return cache / "release" / f"pulumi-{PULUMI}"


def _fetch_into(folder: Path, say: Say) -> Path:
    """Fetch into a folder; return the one inside of it that holds the executables."""
    name = f"pulumi-v{PULUMI}-{machine()}.tar.gz"
    site = f"{os.environ.get(RELEASES_VARIABLE) or _OFFICIAL}/v{PULUMI}"
    address, checksums = f"{site}/{name}", f"{site}/pulumi-{PULUMI}-checksums.txt"
    archive = fetch(f"Fetching Pulumi {PULUMI}", address, checksums, checksum_of, folder, say)
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    except (tarfile.TarError, OSError) as error:
        raise WayClosedError(f"{site}/{name} cannot be unpacked: {error}") from error
    unpacked = folder / "pulumi"
    for executable in ("pulumi", "pulumi-language-python"):
        if not os.access(unpacked / executable, os.X_OK):
            raise WayClosedError(f"{site}/{name} holds no pulumi/{executable}")
    return unpacked


def fetch(
    title: str, address: str, checksums: str, checksum_of: ChecksumOf, folder: Path, say: Say
) -> Path:
    """Download a file into a folder and check it. What fails the check is not to be used."""
    name = address.rpartition("/")[2]
    file, published = folder / name, folder / "checksums"
    with Progress(title, say) as progress:
        # The short file comes first: it shows within seconds whether the site can be reached.
        download(checksums, published, progress)
        found = download(address, file, progress)
    expected = checksum_of(name, published)
    if found != expected:
        raise EngineUnavailableError(
            f"{address} is not what its publisher says it is: the checksum is {found}, and "
            f"{expected or 'none'} is published. Nothing of it was kept. Try again later; "
            "if it stays so, tell whoever runs that site."
        )
    return file


def download(address: str, file: Path, progress: Progress) -> str:
    """Download to a file and return its SHA-256."""
    whole = hashlib.sha256()
    got = 0
    try:
        # The address is the project's own or what the user has set, so any scheme is theirs.
        with (
            urllib.request.urlopen(address, timeout=_PATIENCE_SECONDS) as answer,  # noqa: S310
            file.open("wb") as output,
        ):
            size = int(answer.headers.get("Content-Length") or 0)
            while piece := answer.read(_PIECE):
                output.write(piece)
                whole.update(piece)
                got += len(piece)
                progress.update(f"{got >> 20} of {size >> 20} MB" if size else f"{got >> 20} MB")
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise WayClosedError(f"{address} cannot be fetched: {error}") from error
    if got < size:
        raise WayClosedError(f"{address} broke off after {got} of {size} bytes")
    return whole.hexdigest()


def checksum_of(name: str, checksums: Path) -> str | None:
    for line in checksums.read_text(errors="replace").splitlines():
        match line.split():
            case [checksum, listed] if listed.removeprefix("*") == name:
                return checksum.lower()
    return None
