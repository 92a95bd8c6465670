"""A stack file as it is written: its values, and the line and column of each."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from catalogue.headers import CUSTOM_FEATURES
from catalogue.mistakes import Mistake
from settings.reading import PROJECT
from settings.secrets import is_kept

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^.\[\]]+')


# What is required beside another setting has one of the same form.
_STAND_INS: Mapping[str, str] = MappingProxyType(
    {
        "network.subnetId": "/subscriptions/secret/resourceGroups/secret/providers/"
        "Microsoft.Network/virtualNetworks/secret/subnets/secret"
    }
)
_SERVICES = ("dnsServiceIp", "serviceCidr")


class StackFileError(Exception):
    """A stack file that cannot be used as it is."""


class NoStackFileError(StackFileError):
    """A stack without a stack file."""


class ElsewhereError(StackFileError):
    """A stack file that takes values from elsewhere: from Pulumi ESC."""


class Place(NamedTuple):
    """Where something is written; the first line and the first column are 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


@dataclass(frozen=True)
class StackFile:
    """What a stack file, or the project file Pulumi.yaml, says."""

    content: Mapping[str, Any]
    root: yaml.Node | None = None
    name: str = ""

    @property
    def config(self) -> dict[str, Any]:
        """The configuration; a key without a namespace is one of the project."""
        config = self.content.get("config") or {}
        return {
            str(key) if ":" in str(key) else f"{PROJECT}:{key}": value
            for key, value in config.items()
        }

    @property
    def defaults(self) -> dict[str, Any]:
        """Of a project file: the values of the keys that a stack file leaves out."""
        found = {}
        for key, value in self.config.items():
            if not isinstance(value, Mapping):
                found[key] = value
            elif "value" in value or "default" in value:
                found[key] = value.get("value", value.get("default"))
        return found

    @property
    def allows_retired(self) -> bool:
        """Whether it lets new pools have what Azure has retired."""
        return self.config.get(f"{PROJECT}:allowRetired") in (True, "true")

    @property
    def secrets(self) -> list[str]:
        """The paths of all encrypted values, such as aks-gpu:gpuPools[0].vmSize."""
        return [path for key, value in self.config.items() for path in _secrets(value, key)]

    def require_whole(self) -> None:
        """Raises ElsewhereError where not all values are known here."""
        if named := self.content.get("environment"):
            names = ", ".join(map(str, named)) if isinstance(named, list) else "of its own"
            raise ElsewhereError(
                f"{self.name} takes values from an environment ({names}), which only Pulumi Cloud "
                "knows: without them it cannot be judged."
            )

    def with_place(self, mistake: Mistake) -> str:
        """A mistake, and where it is written, if it is written here."""
        place = self.place_of_key(mistake.path)
        return f"{mistake} ({self.name}:{place.line}:{place.column})" if place else str(mistake)

    def place_of_key(self, path: str) -> Place | None:
        """Where a key is written, such as gpuPools[1].vmSize, or else what should hold it."""
        place, node = None, _member(self.root, "config")[1]
        for part in _PART.findall(path):
            found, node = _member(node, part)
            place = found or place
        return place

    def line_of_name(self, *names: str) -> int | None:
        """The first line in which one of these stands as a name, or else as any value."""
        for name in filter(None, names):
            found = list(_scalars(self.root, name))
            named = [line for line, is_name in found if is_name]
            if lines := named or [line for line, _ in found]:
                return lines[0]
        return None


def read(file: Path) -> StackFile:
    """Raises StackFileError where a file cannot be read."""
    if not file.exists():
        there = ", ".join(sorted(path.name for path in file.parent.glob("Pulumi.*.yaml")))
        raise NoStackFileError(f"There is no stack file {file.name}. There are: {there or 'none'}.")
    try:
        return parse(file.read_text(encoding="utf-8"), file.name)
    except (OSError, UnicodeDecodeError) as error:
        raise StackFileError(f"{file.name} cannot be read: {error}") from None


def parse(text: str, name: str) -> StackFile:
    """Raises StackFileError, with the name, where a text is no stack file."""
    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        content = {} if root is None else loader.construct_document(root)
    except (yaml.YAMLError, ValueError) as error:
        raise StackFileError(f"{name} is no YAML: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict) or not isinstance(content.get("config") or {}, dict):
        raise StackFileError(f"{name} is no map of keys and values below config.")
    return StackFile(content, root, name)


def of_a_program(folder: Path, stack: str) -> StackFile:
    """The stack file of a program that runs; an empty one where it lies somewhere else.

    Only for places and for what is encrypted: the engine may have been given another file, or more
    than is in it.
    """
    try:
        project = yaml.safe_load((folder / "Pulumi.yaml").read_text(encoding="utf-8"))
        directory = project.get("stackConfigDir") or "."
        return read(folder / directory / f"Pulumi.{stack}.yaml")
    except (OSError, UnicodeDecodeError, AttributeError, yaml.YAMLError, StackFileError):
        return StackFile({})


def as_the_engine_hands_it_over(config: Mapping[str, Any]) -> dict[str, str]:
    """A configuration as a program gets it: texts.

    What is encrypted is left out; of headers, labels and tags the names stay.
    """
    known = {
        key: _in_clear(value, key.removeprefix(f"{PROJECT}:")) for key, value in config.items()
    }
    # One without the other would be a mistake.
    network = config.get(f"{PROJECT}:network")
    if isinstance(network, Mapping) and any(map(_is_secure, map(network.get, _SERVICES))):
        known[f"{PROJECT}:network"] = {
            key: value for key, value in known[f"{PROJECT}:network"].items() if key not in _SERVICES
        }
    return {
        key: value if isinstance(value, str) else json.dumps(value, default=str)
        for key, value in known.items()
        if value is not None
    }


def _is_secure(value: Any) -> bool:
    """Whether the engine takes it for something encrypted: a map with this one key, and a text."""
    return (
        isinstance(value, Mapping) and [*value] == ["secure"] and isinstance(value["secure"], str)
    )


def _in_clear(value: Any, path: str) -> Any:
    """A value without what is encrypted in it."""
    if _is_secure(value):
        whole, _, name = path.rpartition(".")
        # The features of a preview are in no stand-in.
        hidden = "secret" if is_kept(whole) and name.lower() != CUSTOM_FEATURES.lower() else None
        return _STAND_INS.get(path, hidden)
    if isinstance(value, Mapping):
        known = {key: _in_clear(member, f"{path}.{key}") for key, member in value.items()}
        return {key: member for key, member in known.items() if member is not None}
    if isinstance(value, list):
        items = (_in_clear(item, f"{path}[]") for item in value)
        return [item for item in items if item is not None]
    return value


def _secrets(value: Any, path: str) -> Iterator[str]:
    """Where below a value there is something encrypted."""
    if _is_secure(value):
        yield path
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _secrets(member, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _secrets(item, f"{path}[{number}]")


def _member(node: yaml.Node | None, part: str) -> tuple[Place | None, yaml.Node | None]:
    """A member of a map or list, with its place; keys may have their project's name before them."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if str(key.value).rpartition(":")[2] == part.strip('"'):
                return _place(key), value
    if isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
        return _place(node.value[int(part)]), node.value[int(part)]
    return None, None


def _place(node: yaml.Node) -> Place:
    return Place(node.start_mark.line + 1, node.start_mark.column + 1)


def _scalars(node: yaml.Node | None, text: str, *, is_name: bool = False) -> list[tuple[int, bool]]:
    """The lines in which a text stands, and whether it is a name there."""
    if isinstance(node, yaml.ScalarNode):
        return [(_place(node).line, is_name)] if node.value == text else []
    found = []
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            # A map may have names for keys, as `pools: {training: ...}` has.
            if key.value.rpartition(":")[2] == text:
                found.append((_place(key).line, False))
            found += _scalars(value, text, is_name=key.value == "name")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            found += _scalars(item, text)
    return found
