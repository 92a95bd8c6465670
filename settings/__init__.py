"""The settings of a stack file: typed, with all mistakes reported at once, each by its key."""

from settings.model import Settings
from settings.pools import GpuPool, SystemNodePool, SystemPool
from settings.reading import SettingsError, load
from settings.secrets import Secrets
from settings.stack_file import stack_file_of

__all__ = [
    "GpuPool",
    "Secrets",
    "Settings",
    "SettingsError",
    "SystemNodePool",
    "SystemPool",
    "load",
    "stack_file_of",
]
