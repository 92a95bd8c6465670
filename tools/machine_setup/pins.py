"""The archives that may be downloaded: those in pins.csv, each checked by its digest.

    python -m machine_setup.pins

updates the table to the versions in `versions.py`: it downloads each archive from its publisher,
and compares it with the publisher's checksums, if there are any.
"""

import csv
import hashlib
import os
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import astuple, dataclass, fields, replace
from pathlib import Path

from machine_setup.cache import Say, prune
from machine_setup.download import download
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.progress import Progress, to_stderr
from machine_setup.versions import ETCD, KUBELOGIN, KUBERNETES, KWOK, PROVIDERS, PULUMI

TABLE = Path(__file__).with_name("pins.csv")

_PULUMI_SITE = "https://github.com/pulumi/pulumi/releases/download"
_KUBERNETES_SITE = "https://dl.k8s.io"
_ETCD_SITE = "https://github.com/etcd-io/etcd/releases/download"
_KWOK_SITE = "https://github.com/kubernetes-sigs/kwok/releases/download"
_KUBELOGIN_SITE = "https://github.com/Azure/kubelogin/releases/download"
_AZURE_NATIVE_SITE = "https://github.com/pulumi/pulumi-azure-native/releases/download"
_PULUMI_KUBERNETES_SITE = "https://github.com/pulumi/pulumi-kubernetes/releases/download"
# Each with the environment variable for a mirror, which has the same files at the same paths.
SITES: Mapping[str, tuple[str, str]] = {
    "pulumi": (_PULUMI_SITE, "AKS_GPU_PULUMI_RELEASES"),
    "kubernetes": (_KUBERNETES_SITE, "AKS_GPU_KUBERNETES_RELEASES"),
    "etcd": (_ETCD_SITE, "AKS_GPU_ETCD_RELEASES"),
    "kwok": (_KWOK_SITE, "AKS_GPU_KWOK_RELEASES"),
    "kubelogin": (_KUBELOGIN_SITE, "AKS_GPU_KUBELOGIN_RELEASES"),
    "pulumi-azure-native": (_AZURE_NATIVE_SITE, "AKS_GPU_AZURE_NATIVE_RELEASES"),
    "pulumi-kubernetes": (_PULUMI_KUBERNETES_SITE, "AKS_GPU_PULUMI_KUBERNETES_RELEASES"),
}
VERSIONS: Mapping[str, str] = {
    "pulumi": PULUMI,
    "kubernetes": KUBERNETES,
    "etcd": ETCD,
    "kwok": KWOK,
    "kubelogin": KUBELOGIN,
    **PROVIDERS,
}


@dataclass(frozen=True)
class Pin:
    """An archive of a release for a platform; `checksums` is the path of the publisher's file.

    Only a provider may be without a digest: nobody here has read its release yet.
    """

    name: str
    version: str
    platform: str
    path: str
    digest: str
    checksums: str

    @property
    def file(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def address(self) -> str:
        return self._at(self.path)

    @property
    def checksums_address(self) -> str:
        return self._at(self.checksums)

    def _at(self, path: str) -> str:
        site, variable = SITES[self.name]
        return f"{os.environ.get(variable) or site}/{path}"


def pins(table: Path) -> list[Pin]:
    with table.open(newline="", encoding="utf-8") as rows:
        return [Pin(**row) for row in csv.DictReader(rows)]


def pin_of(name: str, platform: str) -> Pin:
    """Returns the pin of a program. Raises SourceUnavailableError if the platform has none."""
    for pin in pins(TABLE):
        if (pin.name, pin.version, pin.platform) == (name, VERSIONS[name], platform):
            return pin
    raise SourceUnavailableError(
        f"tools/machine_setup/pins.csv has no {name} {VERSIONS[name]} for {platform}"
    )


def fetch(pin: Pin, folder: Path, say: Say) -> Path:
    """Returns the archive of a pin in a locked folder; downloads and checks it if needed.

    An interrupted download is resumed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = cached_path(pin, folder)
    algorithm = pin.digest.partition(":")[0]
    # A crash of the machine can have left it empty.
    if file.exists() and _digest(file, algorithm) == pin.digest:
        return file
    unchecked = file.with_name(f"{file.name}.part")
    with Progress(f"Downloading {pin.name} {pin.version}", say) as progress:
        download(pin.address, unchecked, progress)
    actual = _digest(unchecked, algorithm)
    if actual != pin.digest:
        unchecked.unlink()
        raise EngineUnavailableError(
            f"{pin.address} does not match tools/machine_setup/pins.csv: its digest is {actual}, "
            f"expected {pin.digest}. The download was deleted. Try again later; if it persists, "
            "contact the owner of that site."
        )
    prune(folder)
    return unchecked.replace(file)


def cached_path(pin: Pin, folder: Path) -> Path:
    """Returns the path of an archive in the cache; the digest in it makes it unique."""
    return folder / f"{pin.digest[-16:]}-{pin.file}"


def renew(table: Path, say: Say) -> None:
    """Updates a table to the versions in versions.py, from the publishers themselves."""
    if mirrors := [variable for _, variable in SITES.values() if os.environ.get(variable)]:
        raise EngineUnavailableError(
            f"Unset {', '.join(mirrors)}: a mirror cannot vouch for its own archives."
        )
    try:
        _renew(table, say)
    except OSError as error:
        raise EngineUnavailableError(str(error)) from error


def _renew(table: Path, say: Say) -> None:
    renewed = [_renewed(pin, say) for pin in pins(table)]
    draft = table.with_name(f"{table.name}.draft")
    with draft.open("w", newline="", encoding="utf-8") as output:
        writer = csv.writer(output, lineterminator="\n")
        writer.writerow(field.name for field in fields(Pin))
        writer.writerows(map(astuple, renewed))
    draft.replace(table)


def _renewed(pin: Pin, say: Say) -> Pin:
    old, new = pin.version, VERSIONS[pin.name]
    paths = (path.replace(old, new) for path in (pin.path, pin.checksums))
    if new != old:
        renamed = dict(zip(("path", "checksums"), paths, strict=True))
        pin = replace(pin, **renamed, version=new, digest="")
    try:
        return _checked(pin, say)
    except SourceUnavailableError as reason:
        if pin.name not in PROVIDERS:
            raise
        # Pulumi downloads it without a digest, and the job with the credentials says so.
        say(f"{pin.file} has {'its old' if pin.digest else 'no'} digest: {reason}.")
        return pin


def _checked(pin: Pin, say: Say) -> Pin:
    """Returns a pin with the digest of its archive, as the publisher has it too."""
    with tempfile.TemporaryDirectory() as folder:
        archive, published = Path(folder, "archive"), Path(folder, "published")
        with Progress(f"Downloading {pin.file}", say) as progress:
            download(pin.address, archive, progress)
            if pin.checksums:
                download(pin.checksums_address, published, progress)
        if pin.checksums:
            expected = _published(pin.file, published.read_text(errors="replace"))
            algorithm = "sha512" if expected and len(expected) == 128 else "sha256"
            if (actual := _digest(archive, algorithm)) != f"{algorithm}:{expected}":
                raise EngineUnavailableError(
                    f"The digest of {pin.address} is {actual}, but {pin.checksums_address} has "
                    f"{expected or 'no checksum for it'}."
                )
        else:
            say(f"{pin.name} publishes no checksums: compare {pin.file} with its release page.")
        return replace(pin, digest=_digest(archive, "sha256"))


def _published(name: str, checksums: str) -> str | None:
    """Returns the checksum of a file, from a list or from a file with nothing else."""
    for line in checksums.splitlines():
        match line.split():
            case [checksum]:
                return checksum.lower()
            case [checksum, listed] if listed.removeprefix("*") == name:
                return checksum.lower()
    return None


def _digest(file: Path, algorithm: str) -> str:
    with file.open("rb") as content:
        return f"{algorithm}:{hashlib.file_digest(content, algorithm).hexdigest()}"


if __name__ == "__main__":
    try:
        renew(TABLE, to_stderr)
    except (SourceUnavailableError, EngineUnavailableError) as error:
        sys.exit(f"tools/machine_setup/pins.csv was not changed: {error}")
