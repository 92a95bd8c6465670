"""NVIDIA's device plugin: what it offers on nodes, and how its containers are known."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import pairwise
from typing import Any

from catalogue.shapes import mappings, sequence

# When the facts here were true.
AS_OF = date(2026, 11, 21)

# A version up to its minor number.
Version = tuple[int, int]

PREFIX = "nvidia.com/"
GPU = f"{PREFIX}gpu"
# The condition by which a node says that several plugins offer it the same.
CONFLICT_CONDITION = "DevicePluginConflict"

# The name of its image, whatever the registry; AMD's plugin for other GPUs is called the same.
# Mirrors that flatten the path have NVIDIA in the name.
IMAGE = "k8s-device-plugin"
_NVIDIAS_IMAGE = re.compile(r"(.*[-_.])?nvidia[-_.](k8s[-_.])?device[-_.]plugin")
_OF_AMD = ("rocm/", "amd/")
PROGRAM = "nvidia-device-plugin"
# Starts the plugin where the GPU Operator runs it.
_OPERATORS_SCRIPT = "entrypoint.sh"
# Of 2018: numbered as the Kubernetes that it was made for. They come before all others.
OF_2018: Version = (0, 0)
_OF_2018 = re.compile(r"v?1\.(0\.0-beta\d*|[89]|1\d)(-.*)?")
# A tag that is no version ("latest"), or none at all, is taken for the newest there is.
NEWEST: Version = (999, 0)
# NVIDIA has come to no other version 1: in mirrors, by which the vendor is not told, it is AMD's.
_AMDS_TAG = re.compile(r"([a-z]+-)*v?1\.\d.*|labeller.*")
_OF_NVIDIA = "nvidia/"
_NUMBERS = re.compile(r"v?(\d+)\.(\d+)([.-].*)?")
# Before this version a plugin that finds no driver blocks for ever, knows no MIG, and ignores what
# it is given.
CAN_FAIL: Version = (0, 7)

FAILS, MIG_STRATEGY, _CONFIG_FILE = "fail-on-init-error", "mig-strategy", "config-file"
# What a plugin does if nobody says otherwise.
NO_STRATEGY = "none"
_DEFAULTS = {FAILS: "true", MIG_STRATEGY: NO_STRATEGY}


def version_of(image: str) -> Version:
    """The plugin's version, as its image's tag has it."""
    tag = _tag(image)
    if _OF_2018.fullmatch(tag):
        return OF_2018
    numbers = _NUMBERS.fullmatch(tag)
    return (int(numbers[1]), int(numbers[2])) if numbers else NEWEST


def _tag(image: str) -> str:
    return image.partition("@")[0].rpartition("/")[2].partition(":")[2]


def setting(container: Mapping[str, Any], name: str) -> str | None:
    """A setting of the plugin's container; None where it stands in what is not seen here."""
    if any(_variable(name) in word for word in words(container)):
        return None
    if (found := _said(container, name)) is not None:
        return found if found and "$" not in found else None
    reads_more = _said(container, _CONFIG_FILE) is not None or container.get("envFrom")
    return None if reads_more or _is_open(container) else _DEFAULTS[name]


def _variable(name: str) -> str:
    return name.upper().replace("-", "_")


def _is_open(container: Mapping[str, Any]) -> bool:
    """Whether something else starts the plugin, or its arguments refer to something else."""
    said = [*words(container)]
    starts = said[0].rpartition("/")[2] if container.get("command") and said else PROGRAM
    return starts != PROGRAM or any("$" in word for word in said)


def _said(container: Mapping[str, Any], name: str) -> str | None:
    """What arguments or environment say of a setting; empty where they refer to something else."""
    for word, following in pairwise([*words(container), ""]):
        argument, has_value, value = word.partition("=")
        if argument.startswith("-") and argument.lstrip("-") == name:
            return value if has_value else {FAILS: "true"}.get(name, following)
    for variable in mappings(container.get("env")):
        if variable.get("name") == _variable(name):
            return str(variable.get("value") or "")
    return None


def is_plugin(container: Mapping[str, Any]) -> bool:
    """Whether a container runs the plugin: its image holds other programs, too."""
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
    """All words of a container's command, also of one that a shell runs."""
    for part in ("command", "args"):
        for text in sequence(container.get(part)):
            yield from (word.strip("\"';") for word in str(text).split())
