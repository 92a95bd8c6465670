"""Downloads or builds Kubernetes for this machine: the control plane, kwok and kubectl."""

from dataclasses import dataclass
from pathlib import Path

from engine.cache import Say, machine, user_cache
from engine.errors import EngineUnavailableError, SourceUnavailableError
from engine.kubernetes_build import build_folder, built_folder
from engine.kubernetes_release import fetch_folder, fetched_folder
from engine.pins import SITES
from engine.progress import to_stderr
from engine.versions import GO, KUBERNETES


@dataclass(frozen=True)
class KubernetesBinaries:
    """A folder with kube-apiserver, kube-controller-manager, kube-scheduler, etcd and kwok.

    It has `kubectl` too; `version` is the version of Kubernetes.
    """

    folder: Path
    kubectl: Path
    version: str


def ensure_kubernetes(say: Say = to_stderr) -> KubernetesBinaries:
    """Returns this machine's Kubernetes binaries: the official ones, or those built here.

    Downloads and builds are cached for the user. `say` gets lines for the user. Raises
    EngineUnavailableError if neither source is available.
    """
    folder = _folder(say)
    return KubernetesBinaries(folder, folder / "kubectl", KUBERNETES)


def _folder(say: Say) -> Path:
    try:
        kind = machine()
    except SourceUnavailableError as reason:
        raise _unavailable(reason, reason) from reason
    if not kind.startswith("linux-"):
        raise EngineUnavailableError(
            f"Kubernetes' control plane is available for Linux only, and this machine is {kind}."
        )
    cache = user_cache() / "kubernetes" / kind
    if cached := fetched_folder(cache) or built_folder(cache):
        return cached
    try:
        return fetch_folder(cache, say)
    except SourceUnavailableError as reason:
        say(f"The official Kubernetes binaries could not be downloaded: {reason}.")
        no_release = reason
    try:
        return build_folder(cache, say)
    except SourceUnavailableError as reason:
        raise _unavailable(no_release, reason) from reason


def _unavailable(
    release: SourceUnavailableError, build: SourceUnavailableError
) -> EngineUnavailableError:
    etcd, kubernetes, kwok = (SITES[name][1] for name in ("etcd", "kubernetes", "kwok"))
    return EngineUnavailableError(
        "There are no Kubernetes binaries for this machine.\n"
        f"1. the official binaries: {release}\n"
        f"2. a build from Go modules: {build}\n"
        "Do one of these and try again:\n"
        f"- make the official sites reachable, or set {kubernetes}, {etcd} and {kwok} to mirrors\n"
        f"- install Go {GO} or newer (https://go.dev/dl/), with a module proxy that it can reach"
    )
