"""Helm, for rehearsals of stacks with Helm releases: the one on PATH, or one built from Go modules.

Other rehearsals do not need it.
"""

import shutil
from functools import cache
from pathlib import Path

from packaging.version import Version

from engine.build import Target, build, hash_of
from engine.cache import Say, machine, user_cache
from engine.errors import EngineUnavailableError, SourceUnavailableError
from engine.on_path import version_of
from engine.progress import to_stderr
from engine.versions import GO, HELM

SOURCE = Path(__file__).parent / "helm_source"
_LDFLAGS = f"-s -w -X helm.sh/helm/v3/internal/version.version=v{HELM}"


def helm_place() -> Path:
    """Returns where `helm` is, or where `ensure_helm` would build it."""
    return _on_path() or _store() / f"{_target().name}-{_target().key}" / "helm"


def ensure_helm(say: Say = to_stderr) -> Path:
    """Returns the executable. Raises EngineUnavailableError if there is none and none is built."""
    if (found := _on_path()) is not None:
        return found
    try:
        (folder,) = build(SOURCE, [_target()], _store(), say)
    except SourceUnavailableError as reason:
        raise EngineUnavailableError(
            f"This stack has a Helm release, and there is no Helm: {reason}\n"
            "Do one of these and try again:\n"
            "- install Helm 3 (https://helm.sh/docs/intro/install/), so that `helm` is on PATH\n"
            f"- install Go {GO} or newer (https://go.dev/dl/), with a module proxy that it can "
            "reach"
        ) from reason
    return folder / "helm"


def _target() -> Target:
    key = f"{HELM}-{hash_of(_LDFLAGS, [SOURCE / 'go.mod', SOURCE / 'go.sum'])}"
    return Target("helm", "helm.sh/helm/v3/cmd/helm", key, _LDFLAGS)


def _store() -> Path:
    return user_cache() / "helm" / machine()


def _on_path() -> Path | None:
    found = shutil.which("helm")
    helm = Path(found).absolute() if found else None
    return helm if helm and _is_usable(helm) else None


@cache
def _is_usable(helm: Path) -> bool:
    try:
        return Version(version_of(helm, "--short")).major == Version(HELM).major
    except SourceUnavailableError:
        return False
