"""The first way to the Kubernetes binaries: those that their projects publish, checked."""

import json
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path

from engine.cache import Say, machine, make_whole
from engine.errors import WayClosedError
from engine.release import ChecksumOf, checksum_of, fetch
from engine.versions import ETCD, KUBERNETES, KWOK

KUBERNETES_VARIABLE = "AKS_GPU_KUBERNETES_RELEASES"
ETCD_VARIABLE = "AKS_GPU_ETCD_RELEASES"
KWOK_VARIABLE = "AKS_GPU_KWOK_RELEASES"
_KUBERNETES_SITE = "https://dl.k8s.io"
_ETCD_SITE = "https://github.com/etcd-io/etcd/releases/download"
_KWOK_SITE = "https://github.com/kubernetes-sigs/kwok/releases/download"
# kwok publishes no file of checksums; GitHub says the checksum of each file of a release.
_KWOK_DIGESTS = "https://api.github.com/repos/kubernetes-sigs/kwok/releases/tags"

# Kubernetes publishes its control plane for Linux alone.
_PLATFORMS = {"linux-x64": "amd64", "linux-arm64": "arm64"}
_OF_KUBERNETES = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


@dataclass(frozen=True)
class _Published:
    """A file of a release: where it is, where its checksum is, and how to read that."""

    name: str
    address: str
    checksums: str
    checksum_of: ChecksumOf


def fetched_folder(cache: Path) -> Path | None:
    """The folder of binaries that were fetched earlier."""
    place = _place(cache)
    return place if place.exists() else None


def fetch_folder(cache: Path, say: Say) -> Path:
    """Download all of them for this machine, check them, and put them into one folder."""
    published = _published()

    def fill(work: Path) -> Path:
        folder = work / "bin"
        folder.mkdir()
        for file in published:
            title = f"Fetching {file.name}"
            got = fetch(title, file.address, file.checksums, file.checksum_of, work, say)
            if got.name.endswith(".tar.gz"):
                _unpack(got, got.name.removesuffix(".tar.gz"), file.name, folder)
            else:
                got.rename(folder / file.name)
            (folder / file.name).chmod(0o755)
        return folder

    return make_whole(_place(cache), fill, say)


def _place(cache: Path) -> Path:
    return cache / "release" / f"kubernetes-{KUBERNETES}-etcd-{ETCD}-kwok-{KWOK}"


def _published() -> list[_Published]:
    platform = _PLATFORMS.get(machine())
    if platform is None:
        raise WayClosedError(f"Kubernetes publishes no control plane for {machine()}")
    kubernetes = _site(KUBERNETES_VARIABLE, _KUBERNETES_SITE)
    kubernetes = f"{kubernetes}/v{KUBERNETES}/bin/linux/{platform}"
    etcd = f"{_site(ETCD_VARIABLE, _ETCD_SITE)}/v{ETCD}"
    archive = f"etcd-v{ETCD}-linux-{platform}.tar.gz"
    kwok = f"{_site(KWOK_VARIABLE, _KWOK_SITE)}/v{KWOK}"
    # A mirror has them beside the files.
    digests = f"{kwok}/digests.json" if KWOK_VARIABLE in os.environ else f"{_KWOK_DIGESTS}/v{KWOK}"
    return [
        *(
            _Published(name, f"{kubernetes}/{name}", f"{kubernetes}/{name}.sha256", _alone)
            for name in _OF_KUBERNETES
        ),
        _Published("etcd", f"{etcd}/{archive}", f"{etcd}/SHA256SUMS", checksum_of),
        _Published("kwok", f"{kwok}/kwok-linux-{platform}", digests, _digest),
    ]


def _site(variable: str, official: str) -> str:
    return os.environ.get(variable) or official


def _unpack(archive: Path, top: str, member: str, folder: Path) -> None:
    try:
        with tarfile.open(archive) as tar:
            content = tar.extractfile(f"{top}/{member}")
            if content is None:
                raise WayClosedError(f"{archive.name} holds no file {top}/{member}")
            with (folder / member).open("wb") as output:
                shutil.copyfileobj(content, output)
    except (tarfile.TarError, KeyError, OSError) as error:
        raise WayClosedError(f"{archive.name} cannot be unpacked: {error}") from error


def _alone(_: str, checksums: Path) -> str | None:
    """A file that holds the checksum and nothing else."""
    return checksums.read_text(errors="replace").strip().lower() or None


def _digest(name: str, checksums: Path) -> str | None:
    """What GitHub's interface says of a release."""
    try:
        assets = json.loads(checksums.read_text(errors="replace"))["assets"]
        [digest] = [asset["digest"] for asset in assets if asset["name"] == name]
    except (ValueError, KeyError, TypeError) as error:
        raise WayClosedError(f"no checksum of {name} can be read: {error!r}") from error
    return str(digest).removeprefix("sha256:").lower() if digest else None
