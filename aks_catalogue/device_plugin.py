"""NVIDIA's device plugin: the resources that it advertises, its versions, and its settings."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import pairwise
from types import MappingProxyType
from typing import Any

from aks_catalogue.shapes import mappings, sequence

# The date of these facts.
AS_OF = date(2026, 11, 21)

# The major and minor version.
Version = tuple[int, int]

PREFIX = "nvidia.com/"
GPU = f"{PREFIX}gpu"
# What NVIDIA's charts tolerate, whatever its value.
GPU_TOLERATION: Mapping[str, str] = MappingProxyType(
    {"key": GPU, "operator": "Exists", "effect": "NoSchedule"}
)
# The names of MIG slices with the strategy `mixed`, and of shared resources that are renamed.
MIG_PREFIX = f"{PREFIX}mig-"
SHARED = ".shared"
# The node condition for several plugins that advertise the same resource.
CONFLICT_CONDITION = "DevicePluginConflict"

# The name of the image in any registry. AMD's plugin has the same name. Mirrors that flatten the
# path have NVIDIA in the name.
IMAGE = "k8s-device-plugin"
_NVIDIAS_IMAGE = re.compile(r"(.*[-_.])?nvidia[-_.](k8s[-_.])?device[-_.]plugin")
_OF_AMD = ("rocm/", "amd/")
PROGRAM = "nvidia-device-plugin"
# The command of the plugin in the GPU Operator.
_OPERATORS_SCRIPT = "entrypoint.sh"
# The plugins of 2018 have the numbers of Kubernetes versions, and are older than all others.
OF_2018: Version = (0, 0)
_OF_2018 = re.compile(r"v?1\.(0\.0-beta\d*|[89]|1\d)(-.*)?")
# For a tag that is not a version, such as "latest", and for no tag.
NEWEST: Version = (999, 0)
# NVIDIA has no other versions 1.x, so they are AMD's in mirrors, whose names lack the vendor.
_AMDS_TAG = re.compile(r"([a-z]+-)*v?1\.\d.*|labeller.*")
_OF_NVIDIA = "nvidia/"
_NUMBERS = re.compile(r"v?([0-9]{1,9})\.([0-9]{1,9})([.-].*)?")
# Older plugins wait forever if they find no driver, do not support MIG, and ignore their settings.
CAN_FAIL: Version = (0, 7)

FAILS, MIG_STRATEGY, _CONFIG_FILE = "fail-on-init-error", "mig-strategy", "config-file"
# The defaults of the plugin.
NO_STRATEGY = "none"
_DEFAULTS = {FAILS: "true", MIG_STRATEGY: NO_STRATEGY}


def version_of(image: str) -> Version:
    """Returns the plugin's version, from the tag of its image."""
    tag = _tag(image)
    if _OF_2018.fullmatch(tag):
        return OF_2018
    numbers = _NUMBERS.fullmatch(tag)
    return (int(numbers[1]), int(numbers[2])) if numbers else NEWEST


def _tag(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def setting(container: Mapping[str, Any], name: str) -> str | None:
    """Returns a setting of the plugin's container; None if it is set outside the container spec."""
    if any(_variable(name) in word for word in words(container)):
        return None
    if (value := _value(container, name)) is not None:
        return value if value and "$" not in value else None
    return None if _reads_file(container) else _DEFAULTS[name]


def _reads_file(container: Mapping[str, Any]) -> bool:
    """Whether the plugin has settings outside its container spec, with which it can share GPUs."""
    has_file = _value(container, _CONFIG_FILE) is not None
    return has_file or bool(container.get("envFrom")) or _is_open(container)


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")


def _is_open(container: Mapping[str, Any]) -> bool:
    """Whether another program starts the plugin, or its arguments refer to variables."""
    command = [*words(container)]
    program = command[0].rpartition("/")[2] if container.get("command") and command else PROGRAM
    return program != PROGRAM or any("$" in word for word in command)


def _value(container: Mapping[str, Any], name: str) -> str | None:
    """Returns a setting from arguments or environment; empty if it refers to another object."""
    for word, following in pairwise([*words(container), ""]):
        argument, has_value, value = word.partition("=")
        if argument.startswith("-") and argument.lstrip("-") == name:
            return value if has_value else {FAILS: "true"}.get(name, following)
    for variable in mappings(container.get("env")):
        if variable.get("name") == _variable(name):
            return str(variable.get("value") or "")
    return None


def is_plugin(container: Mapping[str, Any]) -> bool:
    """Whether a container runs the plugin: its image contains other programs, too."""
    repository = str(container.get("image") or "").partition("@")[0]
    path, _, name = repository.rpartition("/")
    image, tag = name.partition(":")[0], _tag(repository)
    has_vendor = _NVIDIAS_IMAGE.fullmatch(image)
    if (image != IMAGE and not has_vendor) or f"{path}/".endswith(_OF_AMD):
        return False
    is_named = has_vendor or f"{path}/".endswith(_OF_NVIDIA)
    if not is_named and _AMDS_TAG.fullmatch(tag) and not _OF_2018.fullmatch(tag):
        return False
    programs = (word.rpartition("/")[2] for word in words(container))
    return not container.get("command") or any(
        program in (PROGRAM, _OPERATORS_SCRIPT) for program in programs
    )


def words(container: Mapping[str, Any]) -> Iterator[str]:
    """Yields all words of a container's command, also of a command that a shell runs."""
    for part in ("command", "args"):
        for text in sequence(container.get(part)):
            yield from (word.strip("\"';") for word in str(text).split())
