"""A stack file as text: its values, and the line of each."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.shapes import mapping
from stack_settings import PROJECT
from stack_settings.own_file import read_own
from stack_settings.section import as_bool
from stack_settings.yaml_text import NoYamlError, read_yaml

# In place of an encrypted value: also headers as one text have this form.
STAND_IN = "secret=secret"
_LEFT_OUT = object()


class StackFileError(Exception):
    """A stack file that cannot be used."""


class NoStackFileError(StackFileError):
    """A stack that has no stack file."""


class EscEnvironmentError(StackFileError):
    """A stack file that takes values from an environment of Pulumi ESC."""


@dataclass(frozen=True)
class StackFile:
    """The contents of a stack file."""

    content: Mapping[str, Any]
    name: str = ""
    # The lines of keys and items, by path.
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def config(self) -> dict[str, Any]:
        """The configuration. A key without a namespace belongs to the project."""
        return _with_namespaces(self.content.get("config") or {})

    @property
    def allows_retired(self) -> bool:
        """Whether new pools can use what Azure has retired."""
        return as_bool(self.config.get(f"{PROJECT}:allowRetired")) is True

    @property
    def secrets(self) -> dict[str, str]:
        """All encrypted values by path, such as aks-gpu:gpuPools[0].vmSize."""
        found: dict[str, str] = {}
        with_stand_ins(self.config, found.setdefault)
        return found

    def over(self, project: Mapping[str, Any]) -> "StackFile":
        """Returns the file with the values of a project file, for keys that it leaves out."""
        declared = mapping(project.get("config")).items()
        values = {
            key: each.get("value", each.get("default")) if isinstance(each, Mapping) else each
            for key, each in declared
        }
        given = {key: value for key, value in values.items() if value is not None}
        config = {**_with_namespaces(given), **self.config}
        return replace(self, content={**self.content, "config": config})

    def require_whole(self) -> None:
        """Raises EscEnvironmentError for an environment."""
        if environment := self.content.get("environment"):
            names = ", ".join(map(str, environment)) if isinstance(environment, list) else "inline"
            raise EscEnvironmentError(
                f"{self.name} takes values from an environment of Pulumi ESC ({names}), which only "
                "Pulumi Cloud can read. Without these values it cannot be checked."
            )

    def located(self, mistakes: Sequence[Mistake]) -> list[tuple[Mistake, int | None]]:
        """Returns mistakes with their lines, in the order of the file."""
        found = [(mistake, self.line_of_key(mistake.path)) for mistake in mistakes]
        return sorted(found, key=lambda each: each[1] or 0)

    def line_of_key(self, path: str) -> int | None:
        """Returns the line of a key, such as gpuPools[1].vmSize, or of its nearest parent."""
        path = path.removeprefix(f"{PROJECT}:")
        while path and path not in self.lines:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        return self.lines.get(path)


def read(file: Path) -> StackFile:
    """Raises StackFileError if a file cannot be read."""
    try:
        return parse(read_own(file), file.name)
    except FileNotFoundError:
        existing = ", ".join(sorted(path.name for path in file.parent.glob("Pulumi.*.yaml")))
        raise NoStackFileError(
            f"There is no stack file {file.name}. Existing stack files: {existing or 'none'}."
        ) from None
    except OSError as error:
        raise StackFileError(f"{file.name} cannot be read: {error}") from None


def parse(text: bytes | str, name: str) -> StackFile:
    """Raises StackFileError if a text is not a stack file."""
    try:
        content, places = read_yaml(text)
    except NoYamlError as error:
        raise StackFileError(f"{name} is not valid YAML: {error}") from None
    content = {} if content is None else content
    if not isinstance(content, dict) or not isinstance(content.get("config", {}), dict | None):
        raise StackFileError(f"{name} must contain a map `config` of keys and values")
    inside = [place for place in places if place.keys[0] == "config" and len(place.keys) > 1]
    lines = {_path_of(*place.keys[1:]): place.line for place in reversed(inside)}
    return StackFile(content, name, lines)


def read_project(folder: Path) -> Mapping[str, Any]:
    """Returns the project file in a folder; nothing if it does not exist."""
    file = folder / "Pulumi.yaml"
    return project_in(file.read_bytes() if file.is_file() else b"")


def project_in(content: bytes) -> Mapping[str, Any]:
    """Returns a project file; nothing if it cannot be read."""
    with suppress(NoYamlError):
        project, _ = read_yaml(content)
        return mapping(project)
    return {}


def folder_of_stacks(project: Mapping[str, Any]) -> str:
    """Returns the folder of the stack files, relative to the project file."""
    # Older projects have `config: FOLDER`.
    folder = project.get("stackConfigDir") or project.get("config")
    return folder if isinstance(folder, str) else "."


def stack_file_of(folder: Path, stack: str) -> StackFile:
    """Returns the stack file of the running program; an empty one if it is somewhere else.

    Only for the lines of keys and encrypted values: the engine may use another file, or further
    values.
    """
    try:
        return read(folder / folder_of_stacks(read_project(folder)) / f"Pulumi.{stack}.yaml")
    except StackFileError:
        return StackFile({})


def as_engine_config(config: Mapping[str, Any]) -> dict[str, str]:
    """Returns a configuration as a program receives it: as texts.

    A placeholder stands for an encrypted value of this project; those of others are left out.
    """

    def known(path: str, _: str) -> Any:
        return STAND_IN if path.startswith(f"{PROJECT}:") else _LEFT_OUT

    return {key: _as_text(value) for key, value in with_stand_ins(config, known).items()}


def with_stand_ins(config: Mapping[str, Any], make: Callable[[str, str], Any]) -> dict[str, Any]:
    """Returns a configuration in which `make` has replaced encrypted values, by their paths."""
    return {
        key: known
        for key, value in config.items()
        if (known := _in_clear(value, key, make)) is not _LEFT_OUT
    }


def _with_namespaces(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key if ":" in key else f"{PROJECT}:{key}": value for key, value in values.items()}


def _as_text(value: Any) -> str:
    """Returns a value as the engine writes it. A key without a value has an empty string."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value)


def _in_clear(value: Any, path: str, make: Callable[[str, str], Any]) -> Any:
    # The engine takes a map with only this key, and a text, as encrypted.
    if isinstance(value, dict) and [*value] == ["secure"] and isinstance(value["secure"], str):
        return make(path, value["secure"])
    if isinstance(value, dict):
        members = {
            key: _in_clear(each, property_path(path, key), make) for key, each in value.items()
        }
        return {key: member for key, member in members.items() if member is not _LEFT_OUT}
    if isinstance(value, list):
        items = (_in_clear(each, property_path(path, at), make) for at, each in enumerate(value))
        return [item for item in items if item is not _LEFT_OUT]
    return value


def _path_of(key: str | int, *keys: str | int) -> str:
    """Returns the path in the configuration: tags.a, azure-native:tenantId, ["odd key"]."""
    own = str(key).removeprefix(f"{PROJECT}:")
    whole = own if re.fullmatch(r"[\w:-]+", own) else property_path("", own)
    return property_path(whole, *keys)
