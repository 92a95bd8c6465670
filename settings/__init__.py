"""What a stack file can say: typed, with every mistake reported at once and by its key."""

from settings.model import Settings
from settings.pools import GpuPool, SystemPool
from settings.reading import SettingsError, load

__all__ = ["GpuPool", "Settings", "SettingsError", "SystemPool", "load"]
