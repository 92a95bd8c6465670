"""Finds, downloads or builds what runs programs and clusters on this machine."""

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from packaging.version import Version

from machine_setup.cache import Say, engine_cache, machine, user_cache
from machine_setup.errors import EngineUnavailableError, SourceUnavailableError
from machine_setup.from_source.programs import CHARTS, CONTROL_PLANE, ENGINE, Programs
from machine_setup.on_path import find_on_path, version_of
from machine_setup.pins import SITES
from machine_setup.progress import to_stderr
from machine_setup.releases import fetch_released, released
from machine_setup.versions import GO, HELM, KUBERNETES, LOWEST_PULUMI, PULUMI

_INSTALL_GO = (
    f"- install Go {GO} or newer (https://go.dev/dl/), with a module proxy that it can reach"
)


@dataclass(frozen=True)
class Engine:
    """A Pulumi engine that can run Python programs."""

    pulumi: Path
    version: str
    origin: Literal["path", "release", "build"]

    def on_path(self, path: str) -> str:
        """Returns `path` with this `pulumi` and its language host in front."""
        # The folder of the user's pulumi often has other programs, such as a Python, so it is not
        # moved to the front without need.
        if shutil.which("pulumi", path=path) == str(self.pulumi):
            return path
        return os.pathsep.join([str(self.pulumi.parent), path])


@dataclass(frozen=True)
class KubernetesBinaries:
    """A folder with kube-apiserver, kube-controller-manager, kube-scheduler, etcd and kwok.

    It has `kubectl` too; `version` is the version of Kubernetes.
    """

    folder: Path
    kubectl: Path
    version: str


class _NowhereError(Exception):
    """There is neither a release nor a build; the reasons say why."""

    def __init__(self, release: SourceUnavailableError, build: SourceUnavailableError) -> None:
        super().__init__(release, build)
        self.release, self.build = release, build


def ensure_engine(say: Say = to_stderr) -> Engine:
    """Returns this machine's engine: the one on PATH, a release, or one built here, in this order.

    Downloads and builds are cached for the user. `say` gets lines for the user. Raises
    EngineUnavailableError if there is no engine from any source.
    """
    try:
        pulumi, version = find_on_path()
        return Engine(pulumi, version, "path")
    except SourceUnavailableError as reason:
        not_on_path = reason
        if shutil.which("pulumi"):
            say(f"Not using the pulumi on PATH: {reason}.")
    try:
        cache = engine_cache()
        folder, origin = _released_or_built("Pulumi's release", ("pulumi",), ENGINE, cache, say)
    except SourceUnavailableError as reason:
        # For this platform there is neither a release nor a build.
        raise _no_engine(not_on_path, _NowhereError(reason, reason)) from reason
    except _NowhereError as reasons:
        raise _no_engine(not_on_path, reasons) from reasons.build
    return Engine(folder / "pulumi", PULUMI, origin)


def ensure_kubernetes(say: Say = to_stderr) -> KubernetesBinaries:
    """Returns this machine's Kubernetes binaries: the official ones, or those built here.

    Downloads and builds are cached for the user. `say` gets lines for the user. Raises
    EngineUnavailableError if neither source is available.
    """
    what, names = "The official Kubernetes binaries", ("kubernetes", "etcd", "kwok")
    try:
        kind = machine()
        if not kind.startswith("linux-"):
            raise EngineUnavailableError(
                f"Kubernetes' control plane is there for Linux only, and this machine is {kind}."
            )
        cache = user_cache() / "kubernetes" / kind
        folder, _ = _released_or_built(what, names, CONTROL_PLANE, cache, say)
    except SourceUnavailableError as reason:
        raise _no_kubernetes(_NowhereError(reason, reason)) from reason
    except _NowhereError as reasons:
        raise _no_kubernetes(reasons) from reasons.build
    return KubernetesBinaries(folder, folder / "kubectl", KUBERNETES)


def _released_or_built(
    what: str, names: tuple[str, ...], programs: Programs, cache: Path, say: Say
) -> tuple[Path, Literal["release", "build"]]:
    if folder := released(cache, *names):
        return folder, "release"
    if folder := programs.built(cache):
        return folder, "build"
    try:
        return fetch_released(cache, say, *names), "release"
    except SourceUnavailableError as reason:
        say(f"{what} could not be downloaded: {reason}.")
        no_release = reason
    try:
        return programs.build(cache, say), "build"
    except SourceUnavailableError as reason:
        raise _NowhereError(no_release, reason) from reason


def _no_engine(on_path: SourceUnavailableError, reasons: _NowhereError) -> EngineUnavailableError:
    return EngineUnavailableError(
        "There is no Pulumi engine for this machine.\n"
        f"1. pulumi on PATH: {on_path}\n"
        f"2. the official release: {reasons.release}\n"
        f"3. a build from Go modules: {reasons.build}\n"
        "Do one of these and try again:\n"
        f"- install Pulumi {LOWEST_PULUMI} or newer (https://www.pulumi.com/docs/iac/download-install/)\n"
        f"- make the releases reachable, or set {SITES['pulumi'][1]} to a mirror\n{_INSTALL_GO}"
    )


def _no_kubernetes(reasons: _NowhereError) -> EngineUnavailableError:
    etcd, kubernetes, kwok = (SITES[name][1] for name in ("etcd", "kubernetes", "kwok"))
    return EngineUnavailableError(
        "There are no Kubernetes binaries for this machine.\n"
        f"1. the official binaries: {reasons.release}\n"
        f"2. a build from Go modules: {reasons.build}\n"
        "Do one of these and try again:\n"
        f"- make the official sites reachable, or set {kubernetes}, {etcd} and {kwok} to mirrors\n"
        f"{_INSTALL_GO}"
    )


def helm_place() -> Path:
    """Returns where `helm` is, or where `ensure_helm` would build it."""
    return _helm_on_path() or CHARTS.place(_helm_cache()) / "helm"


def ensure_helm(say: Say = to_stderr) -> Path:
    """Returns Helm, for stacks with Helm releases: the one on PATH, or one that is built here.

    Raises EngineUnavailableError if there is none and none can be built.
    """
    if (found := _helm_on_path()) is not None:
        return found
    try:
        folder = CHARTS.build(_helm_cache(), say)
    except SourceUnavailableError as reason:
        raise EngineUnavailableError(
            f"This stack has a Helm release, and there is no Helm: {reason}\n"
            "Do one of these and try again:\n"
            "- install Helm 3 (https://helm.sh/docs/intro/install/), so that `helm` is on PATH\n"
            f"{_INSTALL_GO}"
        ) from reason
    return folder / "helm"


def _helm_cache() -> Path:
    return user_cache() / "helm" / machine()


def _helm_on_path() -> Path | None:
    found = shutil.which("helm")
    helm = Path(found).absolute() if found else None
    return helm if helm and _is_usable_helm(helm) else None


@cache
def _is_usable_helm(helm: Path) -> bool:
    try:
        return Version(version_of(helm, "--short")).major == Version(HELM).major
    except SourceUnavailableError:
        return False
