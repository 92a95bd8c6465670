"""The first way to the Kubernetes binaries: those that the user has."""

import re
import shutil
import subprocess
from pathlib import Path

from engine.cache import Say, sole_use
from engine.errors import WayClosedError
from engine.versions import ETCD, KUBERNETES, KWOK

# What makes each say its version, and which one fits: the control plane has been tried with this
# minor version alone.
_WANTED = {
    "kube-apiserver": (("--version",), KUBERNETES),
    "kube-controller-manager": (("--version",), KUBERNETES),
    "kube-scheduler": (("--version",), KUBERNETES),
    "kubectl": (("version", "--client"), KUBERNETES),
    "etcd": (("--version",), ETCD),
    "kwok": (("--version",), KWOK),
}


def folder_from_path(cache: Path, say: Say) -> Path:
    """A folder with links to what is on PATH, if all of it is there and of the right minor."""
    found = {name: _found(name) for name in _WANTED}
    place = cache / "on-path"
    with sole_use(cache, say):
        place.mkdir(exist_ok=True)
        for name, executable in found.items():
            link = place / name
            if not link.exists() or link.resolve() != executable.resolve():
                link.unlink(missing_ok=True)
                link.symlink_to(executable)
    return place


def _found(name: str) -> Path:
    arguments, wanted = _WANTED[name]
    where = shutil.which(name)
    if where is None:
        raise WayClosedError(f"there is no `{name}` on PATH")
    executable = Path(where).absolute()
    version = _version_of(executable, arguments)
    minor = wanted.rpartition(".")[0]
    if version.rpartition(".")[0] != minor:
        raise WayClosedError(f"{executable} is version {version}, and {minor} is what will do")
    return executable


def _version_of(executable: Path, arguments: tuple[str, ...]) -> str:
    asked = " ".join([str(executable), *arguments])
    try:
        answer = subprocess.run(
            [executable, *arguments], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise WayClosedError(f"`{asked}` failed: {error}") from error
    version = re.search(r"\d+\.\d+\.\d+", answer.stdout)
    if version is None:
        raise WayClosedError(f"`{asked}` answers {answer.stdout.strip()!r}")
    return version.group()
