"""The Pulumi engine of this machine: found, fetched or built, and remembered."""

from engine.ensure import Engine, ensure_engine
from engine.errors import EngineUnavailableError

__all__ = ["Engine", "EngineUnavailableError", "ensure_engine"]
