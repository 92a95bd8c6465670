"""Versions of Kubernetes, and the namespaces that every cluster has."""

import re

# The lowest that can schedule GPUs.
LOWEST = (1, 10)
# Those that AKS has, as of November 2026; the older ones with long-term support only.
ON_AKS = frozenset({(1, 31), (1, 32), (1, 33), (1, 34), (1, 35), (1, 36)})

# The namespaces that every cluster has from its beginning.
OWN_NAMESPACES = frozenset({"default", "kube-node-lease", "kube-public", "kube-system"})

_VERSION = re.compile(r"(\d+)\.(\d+)(\.\d+)?")


def minor_version(text: str) -> tuple[int, int] | None:
    """The version up to its minor number; None where the text is no version."""
    match = _VERSION.fullmatch(text)
    return (int(match[1]), int(match[2])) if match else None


def written(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
