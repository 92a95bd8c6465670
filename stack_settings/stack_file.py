"""A stack file as text: its values, and the line and column of each."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from aks_catalogue.headers import CUSTOM_FEATURES
from aks_catalogue.mistakes import Mistake, property_path
from stack_settings import PROJECT
from stack_settings.own_file import read_own
from stack_settings.project_file import ProjectFile, read_project
from stack_settings.secrets import is_kept
from stack_settings.yaml_text import (
    LocatedMistake,
    NoYamlError,
    Place,
    decoded,
    path_of,
    read_yaml,
)

# Placeholders for encrypted values that must have a certain form.
_STAND_INS: Mapping[str, str] = MappingProxyType(
    {
        "network.subnetId": "/subscriptions/secret/resourceGroups/secret/providers/"
        "Microsoft.Network/virtualNetworks/secret/subnets/secret"
    }
)
_LEFT_OUT = object()
_SERVICES = ("dnsServiceIp", "serviceCidr")


class StackFileError(Exception):
    """A stack file that cannot be used, with its mistakes if they are known."""

    def __init__(self, message: str, wrong: Sequence[LocatedMistake] = ()) -> None:
        super().__init__(message)
        self.wrong = wrong


class NoStackFileError(StackFileError):
    """A stack that has no stack file."""


class EscEnvironmentError(StackFileError):
    """A stack file that takes values from an environment of Pulumi ESC."""


@dataclass(frozen=True)
class StackFile:
    """The contents of a stack file."""

    content: Mapping[str, Any]
    name: str = ""
    # By path, the places of keys and items, and the scalars as they are written.
    places: Mapping[str, Place] = field(default_factory=dict)
    scalars: Mapping[str, str] = field(default_factory=dict)
    # The mistakes that Pulumi refuses for any program.
    wrong: Sequence[LocatedMistake] = ()

    @property
    def config(self) -> dict[str, Any]:
        """The configuration. A key without a namespace belongs to the project."""
        written = self.content.get("config") or {}
        return {key if ":" in key else f"{PROJECT}:{key}": value for key, value in written.items()}

    @property
    def allows_retired(self) -> bool:
        """Whether new pools can use what Azure has retired."""
        return self.config.get(f"{PROJECT}:allowRetired") in (True, "true")

    @property
    def secrets(self) -> dict[str, str]:
        """All encrypted values by path, such as aks-gpu:gpuPools[0].vmSize."""
        return dict(found for key, value in self.config.items() for found in _secrets(value, key))

    def mistakes(self, project: ProjectFile) -> list[LocatedMistake]:
        """Returns the mistakes that Pulumi refuses before the program runs."""
        mistakes = [
            LocatedMistake(mistake, self.place_of_key(mistake.path))
            for key, value in self.config.items()
            for mistake in project.mistakes(key.removeprefix(f"{PROJECT}:"), value)
        ]
        return [*self.wrong, *mistakes]

    def require_whole(self) -> None:
        """Raises StackFileError for mistakes, EscEnvironmentError for an environment."""
        if self.wrong:
            lines = (f"{self.name}: {mistake} ({place})" for mistake, place in self.wrong)
            raise StackFileError("\n".join(lines), self.wrong)
        if environment := self.content.get("environment"):
            names = ", ".join(map(str, environment)) if isinstance(environment, list) else "inline"
            raise EscEnvironmentError(
                f"{self.name} takes values from an environment of Pulumi ESC ({names}), which only "
                "Pulumi Cloud can read. Without these values it cannot be checked."
            )

    def with_place(self, mistake: Mistake) -> str:
        """Returns a mistake with its file, line and column, if its key is in the file."""
        place = self.place_of_key(mistake.path)
        return f"{mistake} ({self.name}:{place.line}:{place.column})" if place else str(mistake)

    def place_of_key(self, path: str) -> Place | None:
        """Returns the place of a key, such as gpuPools[1].vmSize, or of its nearest parent."""
        path = path.removeprefix(f"{PROJECT}:")
        while path and path not in self.places:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.places.get(path)

    def line_of_name(self, *names: str) -> int | None:
        """Returns the first line with one of these as a name, or otherwise as any value or key."""
        for name in filter(None, names):
            values = [path for path, text in self.scalars.items() if text == name]
            named = [path for path in values if path.endswith(".name")]
            # The keys of a map can be names: `pools: {training: ...}`.
            as_key = (f".{name}", f":{name}", f'["{name}"]')
            keys = [path for path in self.places if path == name or path.endswith(as_key)]
            for path in (*named, *values, *keys):
                return self.places[path].line
        return None


def read(file: Path) -> StackFile:
    """Raises StackFileError if a file cannot be read."""
    try:
        return parse(decoded(read_own(file)), file.name)
    except FileNotFoundError:
        existing = ", ".join(sorted(path.name for path in file.parent.glob("Pulumi.*.yaml")))
        raise NoStackFileError(
            f"There is no stack file {file.name}. Existing stack files: {existing or 'none'}."
        ) from None
    except OSError as error:
        raise StackFileError(f"{file.name} cannot be read: {error}") from None
    except NoYamlError as error:
        raise _no_yaml(file.name, error) from None


def parse(text: str, name: str) -> StackFile:
    """Raises StackFileError if a text is not a stack file."""
    try:
        content, places, scalars, wrong = read_yaml(text, _path_of)
    except NoYamlError as error:
        raise _no_yaml(name, error) from None
    content = {} if content is None else content
    if not isinstance(content, dict) or not isinstance(content.get("config", {}), dict | None):
        reason = f"{name} must contain a map `config` of keys and values"
        place = places.get("config", Place(1, 1))
        wrong.append(LocatedMistake(Mistake("", reason), place))
        raise StackFileError(f"{reason} ({place})", wrong)
    # Providers name the keys of their configuration without a namespace.
    bare = {path.partition(":")[2]: place for path, place in places.items() if ":" in path}
    wrong.sort(key=lambda each: each.place or Place(1, 1))
    return StackFile(content, name, bare | places, scalars, wrong)


def stack_file_of(folder: Path, stack: str) -> StackFile:
    """Returns the stack file of the running program; an empty one if it is somewhere else.

    Only for the places of keys and encrypted values: the engine may use another file, or further
    values.
    """
    try:
        return read(folder / read_project(folder).folder_of_stacks / f"Pulumi.{stack}.yaml")
    except StackFileError:
        return StackFile({})


def as_engine_config(config: Mapping[str, Any]) -> dict[str, str]:
    """Returns a configuration as a program receives it: as strings.

    Leaves out encrypted values, but keeps the names of headers, labels and tags.
    """
    known = _with_stand_ins(config, lambda _, stand_in: stand_in or _LEFT_OUT)
    return {key: _as_text(value) for key, value in known.items()}


def with_stand_ins(
    config: Mapping[str, Any], make: Callable[[str, str], Any], project: ProjectFile
) -> dict[str, Any]:
    """Returns a configuration whose encrypted values are what `make` returns for their path and
    placeholder.

    Leaves out an encrypted value that has a default and for which there is no placeholder.
    """

    def made(path: str, stand_in: str | None) -> Any:
        return make(path, stand_in or project.stand_in(path))

    return _with_stand_ins(config, made)


def _with_stand_ins(
    config: Mapping[str, Any], make: Callable[[str, str | None], Any]
) -> dict[str, Any]:
    known = {
        key: _in_clear(value, key.removeprefix(f"{PROJECT}:"), make)
        for key, value in config.items()
    }
    # One of them without the other would be a mistake.
    for key in ("network", f"{PROJECT}:network"):
        network = config.get(key)
        if isinstance(network, Mapping) and any(map(_is_secure, map(network.get, _SERVICES))):
            known[key] = {
                name: value for name, value in known[key].items() if name not in _SERVICES
            }
    return {key: value for key, value in known.items() if value is not _LEFT_OUT}


def _as_text(value: Any) -> str:
    """Returns a value as the engine writes it. A key without a value has an empty string."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


def _is_secure(value: Any) -> bool:
    """Whether the engine takes a value as encrypted: a map with only this key, and a string."""
    return (
        isinstance(value, Mapping) and [*value] == ["secure"] and isinstance(value["secure"], str)
    )


def _in_clear(value: Any, path: str, make: Callable[[str, str | None], Any]) -> Any:
    """Returns a value without its encrypted parts; _LEFT_OUT if nothing is left."""
    if _is_secure(value):
        whole, _, name = path.rpartition(".")
        # A placeholder cannot name preview features.
        is_shown = is_kept(whole) and name.lower() != CUSTOM_FEATURES.lower()
        stand_in = _STAND_INS.get(path, "secret" if is_shown else None)
        return _LEFT_OUT if is_kept(path) and not stand_in else make(path, stand_in)
    if isinstance(value, Mapping):
        known = {key: _in_clear(member, f"{path}.{key}", make) for key, member in value.items()}
        return {key: member for key, member in known.items() if member is not _LEFT_OUT}
    if isinstance(value, list):
        items = (_in_clear(item, f"{path}[]", make) for item in value)
        return [item for item in items if item is not _LEFT_OUT]
    return value


def _secrets(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yields the encrypted parts of a value, each with its path."""
    if _is_secure(value):
        yield path, value["secure"]
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _secrets(member, property_path(path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _secrets(item, property_path(path, number))


def _path_of(*keys: str | int) -> str:
    """Returns a path relative to the configuration, if it is inside."""
    if len(keys) > 1 and keys[0] == "config":
        return property_path(_path_of_key(str(keys[1])), *keys[2:])
    return path_of(*keys)


def _path_of_key(key: str) -> str:
    """Returns the path of a configuration key: tags, azure-native:tenantId, ["odd key"]."""
    own = key.removeprefix(f"{PROJECT}:")
    return own if re.fullmatch(r"[\w:-]+", own) else path_of(own)


def _no_yaml(name: str, error: NoYamlError) -> StackFileError:
    reason = f"{name} is not valid YAML: {error}"
    where = f" ({error.place})" if error.place else ""
    return StackFileError(f"{reason}{where}", [LocatedMistake(Mistake("", reason), error.place)])
