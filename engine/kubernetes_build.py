"""Kubernetes binaries, second source: a build from Go modules."""

from pathlib import Path

from engine.build import Target, build_together, hash_of
from engine.cache import Say, used
from engine.versions import KUBERNETES, KWOK

SOURCE = Path(__file__).parent / "kubernetes_source"

_PACKAGES = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "etcd": "go.etcd.io/etcd/server/v3",
    "kwok": "sigs.k8s.io/kwok/cmd/kwok",
}

# Without these, the binaries report v0.0.0, which clients refuse.
_MAJOR, _MINOR, _ = KUBERNETES.split(".")
_STAMPS = {
    "k8s.io/component-base/version.gitVersion": f"v{KUBERNETES}",
    "k8s.io/component-base/version.gitMajor": _MAJOR,
    "k8s.io/component-base/version.gitMinor": _MINOR,
    "sigs.k8s.io/kwok/pkg/consts.Version": f"v{KWOK}",
}
_LDFLAGS = " ".join(["-s -w", *(f"-X {name}={value}" for name, value in _STAMPS.items())])


def built_folder(cache: Path) -> Path | None:
    """Returns the folder of an earlier build from the same modules."""
    place = _place(cache)
    return used(place) if place.exists() else None


def build_folder(cache: Path, say: Say) -> Path:
    """Builds all of them into one folder."""
    key = _key()
    targets = [Target(name, package, key, _LDFLAGS) for name, package in _PACKAGES.items()]
    return build_together(SOURCE, targets, cache / "build", _place(cache), say)


def _place(cache: Path) -> Path:
    return cache / f"kubernetes-{KUBERNETES}-{_key()}"


def _key() -> str:
    return hash_of(_LDFLAGS, [SOURCE / "go.mod", SOURCE / "go.sum"])
