"""The Pulumi engine and the Kubernetes binaries of this machine: found, downloaded or built."""

from engine.ensure import (
    Engine,
    KubernetesBinaries,
    ensure_engine,
    ensure_helm,
    ensure_kubernetes,
    helm_place,
)
from engine.errors import EngineUnavailableError

__all__ = [
    "Engine",
    "EngineUnavailableError",
    "KubernetesBinaries",
    "ensure_engine",
    "ensure_helm",
    "ensure_kubernetes",
    "helm_place",
]
