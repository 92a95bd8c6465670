"""The Pulumi engine and the Kubernetes of this machine: found, fetched or built, and remembered."""

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
