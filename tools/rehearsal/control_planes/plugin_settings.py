"""The settings of NVIDIA's device plugin: from its arguments, its environment and its file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from aks_catalogue import device_plugin
from aks_catalogue.device_plugin import NO_STRATEGY, PREFIX

Json = dict[str, Any]
# Returns the text of a file in the container; None if there is no such file.
ReadFile = Callable[[str], str | None]

SINGLE, MIXED = "single", "mixed"
_STRATEGIES = (NO_STRATEGY, SINGLE, MIXED)
# The arguments of v0.18, of which these have no value.
_SWITCHES = frozenset(
    {
        "fail-on-init-error",
        "gdrcopy-enabled",
        "gds-enabled",
        "imex-required",
        "mofed-enabled",
        "pass-device-specs",
    }
)
_ARGUMENTS = _SWITCHES | {
    "cdi-annotation-prefix",
    "config-file",
    "container-driver-root",
    "dev-root",
    "device-discovery-strategy",
    "device-id-strategy",
    "device-list-strategy",
    "driver-root",
    "driver-root-ctr-path",
    "imex-channel-ids",
    "kubelet-socket",
    "mig-strategy",
    "mps-root",
    "nvidia-cdi-hook-path",
    "nvidia-ctk-path",
    "nvidia-dev-root",
    "nvidia-driver-root",
}
_NOT_LOADED = "error starting plugins: unable to load config: unable to finalize config: "
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"", "0", "f", "F", "FALSE", "false", "False"})


class SettingsError(Exception):
    """The plugin does not accept its settings."""


def _full_name(name: str) -> str:
    return name if name.startswith(PREFIX) else PREFIX + name


class _Part(BaseModel):
    """A part of the configuration file; what it has beyond this is ignored."""

    model_config = ConfigDict(alias_generator=to_camel, strict=True, frozen=True)


class _Resource(_Part):
    name: Annotated[str, AfterValidator(_full_name)]
    replicas: Annotated[int, Field(ge=2)]


class Sharing(_Part):
    """How devices are shared; `replicas` of each, by resource name."""

    resources: Annotated[list[_Resource], Field(min_length=1)]
    rename_by_default: bool = False
    # Whether a container gets one replica at most.
    fail_requests_greater_than_one: bool = False

    @property
    def replicas(self) -> dict[str, int]:
        return {resource.name: resource.replicas for resource in self.resources}


class _Flags(_Part):
    mig_strategy: str | None = None
    fail_on_init_error: bool | None = None


class _Kinds(_Part):
    time_slicing: Sharing | None = None
    mps: Sharing | None = None


class _Config(_Part):
    version: Literal["v1"] = "v1"
    flags: _Flags = _Flags()
    sharing: _Kinds = _Kinds()


@dataclass(frozen=True)
class Settings:
    """The effective settings of a plugin."""

    mig_strategy: str
    fails_on_init_error: bool
    time_slicing: Sharing | None
    uses_mps: bool


def settings(container: Json, environment: Mapping[str, str], read_file: ReadFile) -> Settings:
    """Returns the effective settings: arguments override the environment, and that the file."""
    given = {
        name: environment[variable]
        for name in _ARGUMENTS
        if (variable := name.replace("-", "_").upper()) in environment
    } | _arguments(container)
    config = _config(given["config-file"], read_file) if given.get("config-file") else _Config()
    strategy = given.get("mig-strategy", config.flags.mig_strategy or NO_STRATEGY)
    if strategy not in _STRATEGIES:
        raise SettingsError(
            f"error starting plugins: unable to validate flags: unknown MIG strategy: {strategy}"
        )
    fails = config.flags.fail_on_init_error
    if "fail-on-init-error" in given:
        fails = _switch("fail-on-init-error", given["fail-on-init-error"])
    # By default it fails.
    return Settings(
        strategy, fails is not False, config.sharing.time_slicing, config.sharing.mps is not None
    )


def _arguments(container: Json) -> dict[str, str]:
    """Returns the arguments by name; as in every Go program, they end at the first non-flag."""
    words = _words(container)
    arguments: dict[str, str] = {}
    for word in words:
        if not word.startswith("-") or word in ("-", "--"):
            break
        name, has_value, value = word.removeprefix("-").removeprefix("-").partition("=")
        if name not in _ARGUMENTS:
            raise SettingsError(f"flag provided but not defined: -{name}")
        text: str | None = value
        if not has_value:
            text = "true" if name in _SWITCHES else next(words, None)
        if text is None:
            raise SettingsError(f"flag needs an argument: -{name}")
        arguments[name] = text
    return arguments


def _words(container: Json) -> Iterator[str]:
    """Returns the command-line words after the plugin's program name."""
    if not container.get("command"):
        return iter(container.get("args") or ())
    words = device_plugin.words(container)
    # Advances past the program name.
    any(word.rpartition("/")[2] == device_plugin.PROGRAM for word in words)
    return words


def _config(path: str, read_file: ReadFile) -> _Config:
    text = read_file(path)
    if text is None:
        raise SettingsError(
            f"{_NOT_LOADED}unable to parse config file: error opening config file: open {path}: no "
            "such file or directory"
        )
    try:
        return _Config.model_validate(yaml.safe_load(text) or {})
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error)
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise SettingsError(
            f"{_NOT_LOADED}unable to parse config file: error parsing config file: {reason}"
        ) from error


def _switch(name: str, text: str) -> bool:
    if text not in _TRUE | _FALSE:
        raise SettingsError(f'invalid boolean value "{text}" for -{name}: parse error')
    return text in _TRUE
