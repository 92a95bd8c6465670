"""Kubeconfigs: where they come from, and the cluster, user and namespace that they choose."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

Kubeconfig = dict[str, Any]

# Where paths stand in a kubeconfig: they are relative to the file that they stand in.
_PATHS = {
    "cluster": ("certificate-authority",),
    "user": ("client-certificate", "client-key", "tokenFile"),
}


class KubeconfigError(Exception):
    """Why a kubeconfig cannot be used. It never repeats the content, which is a secret."""


@dataclass(frozen=True)
class Chosen:
    """What a kubeconfig comes down to, once a context is chosen."""

    cluster: Mapping[str, Any]
    user: Mapping[str, Any]
    namespace: str


def given(path_or_contents: str) -> Kubeconfig:
    """The kubeconfig of a provider's argument: the contents of a file, or its path."""
    if "\n" not in path_or_contents:
        path = Path(path_or_contents).expanduser()
        try:
            if path.is_file():
                return _of_file(path)
        except OSError:
            # No path at all: too long for one.
            pass
    return _parsed(path_or_contents)


def ambient() -> Kubeconfig:
    """What kubectl would use: the files of KUBECONFIG, or ~/.kube/config. The first to say wins."""
    merged: Kubeconfig = {"clusters": [], "contexts": [], "users": []}
    for path in _ambient_files():
        config = _of_file(path)
        merged["current-context"] = merged.get("current-context") or config.get("current-context")
        for part in ("clusters", "contexts", "users"):
            merged[part] += config.get(part) or []
    return merged


def choose(
    config: Kubeconfig, *, context: str = "", cluster: str = "", namespace: str = ""
) -> Chosen:
    """The chosen context, or the current one, with what a provider's arguments override."""
    wanted = context or config.get("current-context") or ""
    if not wanted:
        raise KubeconfigError(
            "invalid configuration: no configuration has been provided, try setting "
            "KUBERNETES_MASTER environment variable"
        )
    found = _named(config, "contexts", "context", wanted)
    if found is None:
        raise KubeconfigError(f'context "{wanted}" does not exist')
    cluster_name = cluster or found.get("cluster", "")
    cluster_found = _named(config, "clusters", "cluster", cluster_name)
    if cluster_found is None:
        raise KubeconfigError(f'cluster "{cluster_name}" does not exist')
    if not cluster_found.get("server"):
        raise KubeconfigError("invalid configuration: cluster has no server defined")
    user = _named(config, "users", "user", found.get("user", ""))
    return Chosen(cluster_found, user or {}, namespace or found.get("namespace") or "default")


def _ambient_files() -> Iterator[Path]:
    places = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    for place in places.split(os.pathsep):
        path = Path(place).expanduser()
        if place and path.is_file():
            yield path


def _of_file(path: Path) -> Kubeconfig:
    config = _parsed(path.read_text(encoding="utf-8"))
    for part, paths in _PATHS.items():
        for entry in config.get(f"{part}s") or []:
            members = entry.get(part) or {}
            for name in paths:
                if members.get(name):
                    members[name] = str(path.parent / members[name])
    return config


def _parsed(contents: str) -> Kubeconfig:
    try:
        config = yaml.safe_load(contents)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise KubeconfigError(f"yaml: {line}{error.problem}") from None
    except yaml.YAMLError:
        raise KubeconfigError("yaml: control characters are not allowed") from None
    if not isinstance(config, dict):
        raise KubeconfigError(
            "couldn't get version/kind; it is neither a kubeconfig nor the path of one"
        )
    return config


def _named(config: Kubeconfig, part: str, member: str, name: str) -> dict[str, Any] | None:
    entries = config.get(part) or []
    return next((entry.get(member) or {} for entry in entries if entry.get("name") == name), None)
