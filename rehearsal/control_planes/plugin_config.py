"""Reads the configuration file of NVIDIA's device plugin, with the plugin's own errors."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from catalogue.device_plugin import PREFIX, SHARED

Json = dict[str, Any]

VERSION = "v1"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_LONGEST_NAME = 63
_KINDS = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
_TYPES = {bool: "bool", int: "int", str: "string", list: "[]interface {}", dict: "map"}


class ConfigError(Exception):
    """The plugin does not accept the file; the reason is in its own words."""


@dataclass(frozen=True)
class Sharing:
    """The sharing of resources: the number of replicas of each device, by resource name."""

    replicas: Mapping[str, int]
    renames: bool = False
    # Whether a container gets one replica at most.
    fails_beyond_one: bool = False
    # Settings in the file that the plugin ignores.
    ignored: tuple[str, ...] = ()


@dataclass(frozen=True)
class Config:
    """The content of a configuration file; None stands for a missing setting."""

    mig_strategy: str | None = None
    fail_on_init_error: bool | None = None
    mps_root: str | None = None
    time_slicing: Sharing | None = None
    mps: Sharing | None = None
    has_resources: bool = False


def parsed(text: str) -> Config:
    """Parses a configuration in YAML or JSON."""
    try:
        content = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _refused(f"error converting YAML to JSON: yaml: {_place(error)}") from error
    if content is not None and not isinstance(content, dict):
        raise _refused(_mismatch(content, "Go value of type v1.Config"))
    whole: Json = content or {}
    version = _value_of(whole, "version", str) or VERSION
    if version != VERSION:
        raise ConfigError(f"unknown version: {version}")
    flags = _value_of(whole, "flags", dict) or {}
    sharing = _value_of(whole, "sharing", dict) or {}
    resources = _value_of(whole, "resources", dict) or {}
    return Config(
        mig_strategy=_value_of(flags, "migStrategy", str),
        fail_on_init_error=_value_of(flags, "failOnInitError", bool),
        mps_root=_value_of(flags, "mpsRoot", str),
        # An empty entry is an entry without resources; only that of MPS may be null.
        time_slicing=_sharing(sharing["timeSlicing"]) if "timeSlicing" in sharing else None,
        mps=_sharing(sharing["mps"]) if sharing.get("mps") is not None else None,
        has_resources=any(resources.values()),
    )


def _refused(reason: str) -> ConfigError:
    return ConfigError(f"unmarshal error: {reason}")


def _sharing(content: Any) -> Sharing:
    if content is not None and not isinstance(content, dict):
        raise _refused(_mismatch(content, "Go value of type map[string]json.RawMessage"))
    whole: Json = content or {}
    renames = bool(_value_of(whole, "renameByDefault", bool))
    fails_beyond_one = bool(_value_of(whole, "failRequestsGreaterThanOne", bool))
    resources = _value_of(whole, "resources", list)
    if not resources:
        raise _refused("no resources specified")
    replicas: dict[str, int] = {}
    ignored: set[str] = set()
    for resource in resources:
        name, count = _resource(resource)
        replicas[name] = max(count, replicas.get(name, 0))
        if _renames_otherwise(resource, name, renames):
            ignored.add("rename")
        if resource.get("devices", "all") != "all":
            ignored.add("devices")
    return Sharing(replicas, renames, fails_beyond_one, tuple(sorted(ignored, reverse=True)))


def _resource(content: Any) -> tuple[str, int]:
    """Returns the full name of a shared resource, and the replicas of each device."""
    if not isinstance(content, dict):
        raise _refused(_mismatch(content, "Go value of type map[string]json.RawMessage"))
    name = _value_of(content, "name", str)
    if name is None:
        raise _refused("no resource name specified")
    devices = content.get("devices", "all")
    if isinstance(devices, str) and devices != "all":
        raise _refused(f"devices set as '{devices}' but the only valid string input is 'all'")
    count = _value_of(content, "replicas", int)
    if count is None:
        raise _refused("no replicas specified")
    if count < 2:
        raise _refused("number of replicas must be >= 2")
    return _full_name(name), count


def _renames_otherwise(resource: Json, name: str, renames: bool) -> bool:
    """Whether a resource asks for a name of the user's choice, which the plugin ignores."""
    rename = _value_of(resource, "rename", str)
    if not rename:
        return False
    return _full_name(rename) != name + SHARED if renames else True


def _full_name(name: str) -> str:
    full = name if name.startswith(PREFIX) else PREFIX + name
    if len(full) > _LONGEST_NAME:
        raise _refused(
            f"fully-qualified resource name must be {_LONGEST_NAME} characters or less: {full}"
        )
    if not _NAME.fullmatch(full.removeprefix(PREFIX)):
        raise _refused(f"incorrect format for resource name '{full}'")
    return full


def _value_of(content: Json, key: str, kind: type) -> Any:
    """Returns a value of that type; None if it is missing."""
    value = content.get(key)
    # To Go, a bool is not a number.
    if value is not None and type(value) is not kind:
        raise _refused(_mismatch(value, f"Go struct field .{key} of type {_TYPES[kind]}"))
    return value


def _mismatch(value: Any, where: str) -> str:
    kind = _KINDS.get(type(value), "object")
    return (
        f"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into {where}"
    )


def _place(error: Exception) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or "invalid content"
    return f"line {mark.line + 1}: {problem}" if mark else problem
