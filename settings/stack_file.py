"""A stack file as it is written: its values, and the line and column of each."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from catalogue.headers import CUSTOM_FEATURES
from catalogue.mistakes import Mistake, property_path
from settings.project_file import ProjectFile, read_project
from settings.reading import PROJECT
from settings.secrets import is_kept
from settings.yaml_text import (
    NoYamlError,
    Place,
    Values,
    Written,
    composed,
    decoded,
    is_text,
    meant,
    number_as_text,
    place_of,
)

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[^.\[\]]+')
# What else Pulumi looks for in a stack file: texts.
_TEXTS = ("secretsprovider", "encryptedkey", "encryptionsalt")


# What is required beside another setting has one of the same form.
_STAND_INS: Mapping[str, str] = MappingProxyType(
    {
        "network.subnetId": "/subscriptions/secret/resourceGroups/secret/providers/"
        "Microsoft.Network/virtualNetworks/secret/subnets/secret"
    }
)
_LEFT_OUT = object()
_SERVICES = ("dnsServiceIp", "serviceCidr")


class StackFileError(Exception):
    """A stack file that cannot be used as it is, with its mistakes where they are known."""

    def __init__(self, told: str, wrong: Sequence[Written] = ()) -> None:
        super().__init__(told)
        self.wrong = wrong


class NoStackFileError(StackFileError):
    """A stack without a stack file."""


class ElsewhereError(StackFileError):
    """A stack file that takes values from elsewhere: from Pulumi ESC."""


@dataclass(frozen=True)
class StackFile:
    """What a stack file says."""

    content: Mapping[str, Any]
    root: yaml.Node | None = None
    name: str = ""
    # What Pulumi refuses in it, whatever the program.
    wrong: Sequence[Written] = ()

    @property
    def config(self) -> dict[str, Any]:
        """The configuration; a key without a namespace is one of the project."""
        return {_whole_key(key): value for key, value in self._written.items()}

    @property
    def _written(self) -> Mapping[str, Any]:
        return self.content.get("config") or {}

    @property
    def allows_retired(self) -> bool:
        """Whether it lets new pools have what Azure has retired."""
        return self.config.get(f"{PROJECT}:allowRetired") in (True, "true")

    @property
    def secrets(self) -> dict[str, str]:
        """All encrypted values as they stand there, by paths such as aks-gpu:gpuPools[0].vmSize."""
        return dict(found for key, value in self.config.items() for found in _secrets(value, key))

    def mistakes(self, project: ProjectFile) -> list[Written]:
        """What Pulumi itself refuses, before the program runs."""
        told = [
            Written(mistake, self.place_of_key(mistake.path))
            for key, value in self.config.items()
            for mistake in project.mistakes(key.removeprefix(f"{PROJECT}:"), value)
        ]
        return [*self.wrong, *told]

    def require_whole(self) -> None:
        """Raises StackFileError where Pulumi would, ElsewhereError where values are elsewhere."""
        if self.wrong:
            told = (f"{self.name}: {mistake} ({place})" for mistake, place in self.wrong)
            raise StackFileError("\n".join(told), self.wrong)
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
        first, *parts = map(_unquoted, _PART.findall(path)) if path else [""]
        # Some tell a key with its namespace, and others without.
        for key in [key for key in self._written if first in (key, key.rpartition(":")[2])][:1]:
            place, node = _member(node, key)
            for part in parts:
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
        return parse(decoded(file.read_bytes()), file.name)
    except NoYamlError as error:
        raise _no_yaml(file.name, error) from None
    except OSError as error:
        raise StackFileError(f"{file.name} cannot be read: {error}") from None


def parse(text: str, name: str) -> StackFile:
    """Raises StackFileError, with the name, where a text is no stack file."""
    try:
        root = composed(text)
    except NoYamlError as error:
        raise _no_yaml(name, error) from None
    if root is None:
        return StackFile({}, None, name)
    values = Values()
    content = values.of(root)
    wrong = [Written(_in_config(mistake), place) for mistake, place in values.wrong]
    wrong += _misshapen(root)
    if content is None and not wrong:
        return StackFile({}, None, name)
    if not isinstance(content, dict) or not isinstance(content.get("config", {}), dict | None):
        told = f"{name} is no map of keys and values below config"
        config = _member(root, "config")[1]
        place = place_of(config or root)
        raise StackFileError(f"{told} ({place})", [*wrong, Written(Mistake("", told), place)])
    return StackFile(content, root, name, sorted(wrong, key=lambda each: each.place or (0, 0)))


def of_a_program(folder: Path, stack: str) -> StackFile:
    """The stack file of a program that runs; an empty one where it lies somewhere else.

    Only for places and for what is encrypted: the engine may have been given another file, or more
    than is in it.
    """
    try:
        return read(folder / read_project(folder).folder_of_stacks / f"Pulumi.{stack}.yaml")
    except StackFileError:
        return StackFile({})


def as_the_engine_hands_it_over(config: Mapping[str, Any]) -> dict[str, str]:
    """A configuration as a program gets it: texts.

    What is encrypted is left out; of headers, labels and tags the names stay.
    """
    known = _with_stand_ins(config, lambda _, stand_in: stand_in or _LEFT_OUT)
    return {key: _as_text(value) for key, value in known.items()}


def with_stand_ins(
    config: Mapping[str, Any], make: Callable[[str, str], Any], project: ProjectFile
) -> dict[str, Any]:
    """A configuration whose encrypted values are what `make` makes of their paths and stand-ins.

    One that has a default, and for which nothing can stand in, is left out.
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
    # One without the other would be a mistake.
    for key in ("network", f"{PROJECT}:network"):
        network = config.get(key)
        if isinstance(network, Mapping) and any(map(_is_secure, map(network.get, _SERVICES))):
            known[key] = {
                name: value for name, value in known[key].items() if name not in _SERVICES
            }
    return {key: value for key, value in known.items() if value is not _LEFT_OUT}


def _as_text(value: Any) -> str:
    """A value as the engine writes it; a key without one has an empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    return number_as_text(value) if isinstance(value, float) else json.dumps(value)


def _is_secure(value: Any) -> bool:
    """Whether the engine takes it for something encrypted: a map with this one key, and a text."""
    return (
        isinstance(value, Mapping) and [*value] == ["secure"] and isinstance(value["secure"], str)
    )


def _in_clear(value: Any, path: str, make: Callable[[str, str | None], Any]) -> Any:
    """A value without what is encrypted in it; _LEFT_OUT where nothing is left."""
    if _is_secure(value):
        whole, _, name = path.rpartition(".")
        # The features of a preview are in no stand-in.
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
    """What is encrypted in a value, each with its path."""
    if _is_secure(value):
        yield path, value["secure"]
    elif isinstance(value, Mapping):
        for key, member in value.items():
            yield from _secrets(member, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _secrets(item, f"{path}[{number}]")


def _member(node: yaml.Node | None, part: str) -> tuple[Place | None, yaml.Node | None]:
    """A member of a map or list, with its place."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if meant(key).value == part:
                return place_of(key), meant(value)
    if isinstance(node, yaml.SequenceNode) and part.isdigit() and int(part) < len(node.value):
        return place_of(node.value[int(part)]), meant(node.value[int(part)])
    return None, None


def _unquoted(part: str) -> str:
    return json.loads(part) if part.startswith('"') else part


def _whole_key(key: str) -> str:
    """A key with its namespace; `config:` after that is what keys had long ago."""
    namespace, colon, name = key.partition(":")
    return f"{namespace}:{name.removeprefix('config:')}" if colon else f"{PROJECT}:{key}"


def _path_of_key(key: str) -> str:
    """The path of a key of the configuration: tags, azure-native:tenantId, ["odd key"]."""
    own = key.removeprefix(f"{PROJECT}:")
    return own if re.fullmatch(r"[\w:-]+", own) and not own.isdigit() else property_path("", own)


def _in_config(mistake: Mistake) -> Mistake:
    """A mistake by its path in the configuration, if it is there."""
    if found := re.match(r"config(?:\.(\w+)|\[(\"(?:[^\"\\]|\\.)*\")\])", mistake.path):
        key = found[1] or json.loads(found[2])
        return Mistake(_path_of_key(key) + mistake.path[found.end() :], mistake.reason)
    return mistake


def _no_yaml(name: str, error: NoYamlError) -> StackFileError:
    told = f"{name} is no YAML: {error}"
    where = f" ({error.place})" if error.place else ""
    return StackFileError(f"{told}{where}", [Written(Mistake("", told), error.place)])


def _misshapen(root: yaml.Node) -> Iterator[Written]:
    """The mistakes of a stack file whose YAML is none."""
    if not isinstance(root, yaml.MappingNode):
        return
    for key, value in root.value:
        if not is_text(key):
            told = Mistake("", f"the key {meant(key).value} is no text: put it in quotes")
            yield Written(told, place_of(key))
        elif meant(key).value in _TEXTS and not isinstance(meant(value), yaml.ScalarNode):
            yield Written(Mistake(meant(key).value, "is to be a text"), place_of(value))
    config, first = _member(root, "config")[1], dict[str, tuple[str, Place]]()
    for key, _ in config.value if isinstance(config, yaml.MappingNode) else ():
        if not isinstance(meant(key), yaml.ScalarNode):
            continue
        place, whole = place_of(key), _whole_key(said := meant(key).value)
        path = _path_of_key(said)
        if not is_text(key):
            yield Written(Mistake(path, "is a key that is no text"), place)
        elif whole.count(":") != 1:
            yield Written(Mistake(path, "is no key: those of others are namespace:name"), place)
        elif whole in first and said != first[whole][0]:
            yield Written(Mistake(path, f"stands twice, first in {first[whole][1]}"), place)
        first.setdefault(whole, (said, place))


def _scalars(node: yaml.Node | None, text: str, *, is_name: bool = False) -> list[tuple[int, bool]]:
    """The lines in which a text stands, and whether it is a name there."""
    if isinstance(node, yaml.ScalarNode):
        return [(place_of(node).line, is_name)] if node.value == text else []
    found = []
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            # A map may have names for keys, as `pools: {training: ...}` has.
            said = str(key.value)
            if said.rpartition(":")[2] == text:
                found.append((place_of(key).line, False))
            found += _scalars(value, text, is_name=said == "name")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            found += _scalars(item, text)
    return found
