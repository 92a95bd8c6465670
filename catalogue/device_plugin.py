"""NVIDIA's device plugin: what it offers on nodes, and how its containers are known."""

from collections.abc import Iterator, Mapping
from typing import Any

PREFIX = "nvidia.com/"
GPU = f"{PREFIX}gpu"
# The condition by which a node says that several plugins offer it the same.
CONFLICT_CONDITION = "DevicePluginConflict"

# The name of its image, whatever the registry; AMD's plugin for other GPUs is called the same.
IMAGE = "k8s-device-plugin"
_OF_AMD = "rocm/"
PROGRAM = "nvidia-device-plugin"
# Starts the plugin where the GPU Operator runs it.
_OPERATORS_SCRIPT = "entrypoint.sh"


def is_plugin(container: Mapping[str, Any]) -> bool:
    """Whether a container runs the plugin: its image holds other programs, too."""
    repository = str(container.get("image") or "").partition("@")[0]
    path, _, name = repository.rpartition("/")
    if name.partition(":")[0] != IMAGE or f"{path}/".endswith(_OF_AMD):
        return False
    programs = (word.rpartition("/")[2] for word in words(container))
    return not container.get("command") or any(
        program in (PROGRAM, _OPERATORS_SCRIPT) for program in programs
    )


def words(container: Mapping[str, Any]) -> Iterator[str]:
    """All words of a container's command, also of one that a shell runs."""
    for part in ("command", "args"):
        for text in container.get(part) or ():
            yield from (word.strip("\"';") for word in str(text).split())
