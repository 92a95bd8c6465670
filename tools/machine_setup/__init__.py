"""The Pulumi engine and the Kubernetes binaries of this machine: found, downloaded or built."""

from machine_setup.ensure import (
    Engine,
    KubernetesBinaries,
    ensure_engine,
    ensure_helm,
    ensure_kubernetes,
    helm_place,
)
from machine_setup.errors import EngineUnavailableError

__all__ = [
    "Engine",
    "EngineUnavailableError",
    "KubernetesBinaries",
    "ensure_engine",
    "ensure_helm",
    "ensure_kubernetes",
    "helm_place",
]
