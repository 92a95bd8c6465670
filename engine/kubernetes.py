"""Giving a machine a Kubernetes: the control plane, the player of its nodes, and kubectl."""

from dataclasses import dataclass
from pathlib import Path

from engine.cache import Say, machine, user_cache
from engine.errors import EngineUnavailableError, WayClosedError
from engine.kubernetes_build import build_folder, built_folder
from engine.kubernetes_release import fetch_folder, fetched_folder
from engine.pins import SITES
from engine.progress import to_stderr
from engine.versions import KUBERNETES


@dataclass(frozen=True)
class KubernetesBinaries:
    """A folder that holds kube-apiserver, kube-controller-manager, kube-scheduler, etcd and kwok.

    `kubectl` is in it too; `version` is that of Kubernetes.
    """

    folder: Path
    kubectl: Path
    version: str


def ensure_kubernetes(say: Say = to_stderr) -> KubernetesBinaries:
    """The Kubernetes of this machine: the official one, or one built here.

    What is fetched or built is kept for the user. `say` gets a line for each thing worth knowing.
    Raises EngineUnavailableError where neither way leads to one.
    """
    folder = _folder(say)
    return KubernetesBinaries(folder, folder / "kubectl", KUBERNETES)


def _folder(say: Say) -> Path:
    try:
        kind = machine()
    except WayClosedError as reason:
        raise _unavailable(reason, reason) from reason
    if not kind.startswith("linux-"):
        raise EngineUnavailableError(
            f"The rehearsal works on Linux only, and this machine is {kind}. Use it in a container "
            "or in a virtual machine. Stacks in Azure need no rehearsal."
        )
    cache = user_cache() / "kubernetes" / kind
    if kept := fetched_folder(cache) or built_folder(cache):
        return kept
    try:
        return fetch_folder(cache, say)
    except WayClosedError as reason:
        say(f"No official binaries of Kubernetes could be fetched: {reason}.")
        no_release = reason
    try:
        return build_folder(cache, say)
    except WayClosedError as reason:
        raise _unavailable(no_release, reason) from reason


def _unavailable(release: WayClosedError, build: WayClosedError) -> EngineUnavailableError:
    etcd, kubernetes, kwok = (SITES[name][1] for name in ("etcd", "kubernetes", "kwok"))
    return EngineUnavailableError(
        "No Kubernetes could be had in either of the two ways.\n"
        f"1. the official binaries: {release}\n"
        f"2. a build from Go modules: {build}\n"
        "Do one of these and try again:\n"
        "- make the official sites reachable, or name mirrors of them in "
        f"{kubernetes}, {etcd} and {kwok}\n"
        "- install Go 1.26 or newer (https://go.dev/dl/), with a module proxy it can reach"
    )
