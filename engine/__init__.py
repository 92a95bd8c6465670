"""The Pulumi engine and the Kubernetes binaries of this machine: found, downloaded or built."""

from engine.ensure import Engine, ensure_engine
from engine.errors import EngineUnavailableError
from engine.kubernetes import KubernetesBinaries, ensure_kubernetes

__all__ = [
    "Engine",
    "EngineUnavailableError",
    "KubernetesBinaries",
    "ensure_engine",
    "ensure_kubernetes",
]
