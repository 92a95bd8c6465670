"""The settings of NVIDIA's device plugin, from its version, arguments, environment and file."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from catalogue import device_plugin
from catalogue.device_plugin import NO_STRATEGY, Version
from rehearsal.control_planes import plugin_config
from rehearsal.control_planes.plugin_config import Config, ConfigError, Sharing

Json = dict[str, Any]
# Returns the text of a file in the container; None if there is no such file.
ReadFile = Callable[[str], str | None]

# Newer than all versions.
_UNKNOWN: Version = (1000, 0)
# The plugin's arguments by the version that added them, as of v0.20.
_BROUGHT: Mapping[Version, tuple[str, ...]] = {
    (0, 7): ("mig-strategy", "fail-on-init-error", "pass-device-specs", "device-list-strategy"),
    (0, 8): ("nvidia-driver-root",),
    (0, 9): ("device-id-strategy",),
    (0, 12): ("config-file",),
    (0, 13): ("gds-enabled", "mofed-enabled"),
    (0, 14): ("cdi-annotation-prefix", "nvidia-ctk-path", "container-driver-root"),
    (0, 15): ("mps-root",),
    (0, 16): (
        "driver-root",
        "dev-root",
        "nvidia-dev-root",
        "nvidia-cdi-hook-path",
        "driver-root-ctr-path",
        "device-discovery-strategy",
    ),
    (0, 17): ("kubelet-socket", "imex-channel-ids", "imex-required"),
    (0, 18): ("gdrcopy-enabled",),
    (0, 19): ("cdi-feature-flags",),
    (0, 20): ("shared-devices-allocation-policy", "cdi-disable-hooks"),
}
_ARGUMENTS: Mapping[str, Version] = MappingProxyType(
    {name: version for version, names in _BROUGHT.items() for name in names}
)
# Arguments without a value.
_SWITCHES = frozenset(
    {
        "fail-on-init-error",
        "pass-device-specs",
        "gds-enabled",
        "mofed-enabled",
        "gdrcopy-enabled",
        "imex-required",
    }
)
_READS_ENVIRONMENT: Version = (0, 9)
_NOT_PARSED = (
    "error starting plugins: unable to load config: unable to finalize config: "
    "unable to parse config file: "
)
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})


class SettingsError(Exception):
    """The plugin does not accept its settings; the reason is in its own words."""


@dataclass(frozen=True)
class Settings:
    """The effective settings of a plugin."""

    mig_strategy: str
    fails_on_init_error: bool
    mps_root: str
    config: Config

    @property
    def sharing(self) -> Sharing | None:
        """The effective kind of sharing: MPS comes before time slicing."""
        return self.config.mps or self.config.time_slicing


def arguments(container: Json, version: Version) -> dict[str, str]:
    """Returns the arguments by name; as in every Go program, they end at the first non-flag."""
    words = _words(container)
    arguments: dict[str, str] = {}
    for word in words:
        if not word.startswith("-") or word in ("-", "--"):
            break
        name, has_value, value = word.removeprefix("-").removeprefix("-").partition("=")
        if version < _ARGUMENTS.get(name, _UNKNOWN):
            raise SettingsError(f"flag provided but not defined: -{name}")
        text: str | None = value
        if not has_value:
            text = "true" if name in _SWITCHES else next(words, None)
        if text is None:
            raise SettingsError(f"flag needs an argument: -{name}")
        arguments[name] = text
    return arguments


def settings(
    version: Version,
    arguments: Mapping[str, str],
    environment: Mapping[str, str],
    read_file: ReadFile,
) -> Settings:
    """Returns the effective settings: arguments override the environment, and that the file."""
    sources = _Sources(version, arguments, environment)
    config = Config()
    if path := sources.text("config-file"):
        config = _config(path, read_file)
    fails = sources.switch("fail-on-init-error")
    if fails is None:
        fails = config.fail_on_init_error
    return Settings(
        mig_strategy=_first(sources.text("mig-strategy"), config.mig_strategy, NO_STRATEGY),
        # By default it fails.
        fails_on_init_error=fails is not False,
        mps_root=_first(sources.text("mps-root"), config.mps_root, ""),
        config=config,
    )


@dataclass(frozen=True)
class _Sources:
    """The settings of a container that a version of the plugin reads."""

    version: Version
    arguments: Mapping[str, str]
    environment: Mapping[str, str]

    def text(self, name: str) -> str | None:
        return self.arguments.get(name, self._variable(name))

    def switch(self, name: str) -> bool | None:
        variable = self._variable(name)
        # An invalid variable is an error even beside an argument. An empty one means false.
        of_variable = None if variable is None else False
        if variable:
            of_variable = _bool(
                variable,
                f'could not parse "{variable}" as bool value from environment variable '
                f'"{_variable_of(name)}" for flag {name}: strconv.ParseBool: '
                f'parsing "{variable}": invalid syntax',
            )
        argument = self.arguments.get(name)
        if argument is None:
            return of_variable
        return _bool(argument, f'invalid boolean value "{argument}" for -{name}: parse error')

    def _variable(self, name: str) -> str | None:
        if self.version < max(_READS_ENVIRONMENT, _ARGUMENTS[name]):
            return None
        return self.environment.get(_variable_of(name))


def _variable_of(name: str) -> str:
    return name.replace("-", "_").upper()


def _config(path: str, read_file: ReadFile) -> Config:
    text = read_file(path)
    if text is None:
        reason = f"error opening config file: open {path}: no such file or directory"
        raise SettingsError(_NOT_PARSED + reason)
    try:
        return plugin_config.parsed(text)
    except ConfigError as error:
        raise SettingsError(f"{_NOT_PARSED}error parsing config file: {error}") from error


def _bool(text: str, reason: str) -> bool:
    if text not in _TRUE | _FALSE:
        raise SettingsError(reason)
    return text in _TRUE


def _first(*values: str | None) -> str:
    return next(value for value in values if value is not None)


def _words(container: Json) -> Iterator[str]:
    """Returns the command-line words after the plugin's program name."""
    if not container.get("command"):
        return iter(container.get("args") or ())
    words = device_plugin.words(container)
    # Advances past the program name.
    any(word.rpartition("/")[2] == device_plugin.PROGRAM for word in words)
    return words
