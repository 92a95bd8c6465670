"""A stack file as text: its values, and the line and column of each."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from errno import ENAMETOOLONG, ENOENT
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from catalogue.headers import CUSTOM_FEATURES
from catalogue.mistakes import Mistake, property_path
from settings.own_file import read_own
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
# Further keys of a stack file, which must be strings.
_TEXTS = ("secretsprovider", "encryptedkey", "encryptionsalt")


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

    def __init__(self, message: str, wrong: Sequence[Written] = ()) -> None:
        super().__init__(message)
        self.wrong = wrong


class NoStackFileError(StackFileError):
    """A stack that has no stack file."""


class ElsewhereError(StackFileError):
    """A stack file that takes values from an environment of Pulumi ESC."""


@dataclass(frozen=True)
class StackFile:
    """The contents of a stack file."""

    content: Mapping[str, Any]
    root: yaml.Node | None = None
    name: str = ""
    # The mistakes that Pulumi refuses for any program.
    wrong: Sequence[Written] = ()

    @property
    def config(self) -> dict[str, Any]:
        """The configuration. A key without a namespace belongs to the project."""
        return {_whole_key(key): value for key, value in self._written.items()}

    @property
    def _written(self) -> Mapping[str, Any]:
        return self.content.get("config") or {}

    @property
    def allows_retired(self) -> bool:
        """Whether new pools can use what Azure has retired."""
        return self.config.get(f"{PROJECT}:allowRetired") in (True, "true")

    @property
    def secrets(self) -> dict[str, str]:
        """All encrypted values by path, such as aks-gpu:gpuPools[0].vmSize."""
        return dict(found for key, value in self.config.items() for found in _secrets(value, key))

    def mistakes(self, project: ProjectFile) -> list[Written]:
        """Returns the mistakes that Pulumi refuses before the program runs."""
        mistakes = [
            Written(mistake, self.place_of_key(mistake.path))
            for key, value in self.config.items()
            for mistake in project.mistakes(key.removeprefix(f"{PROJECT}:"), value)
        ]
        return [*self.wrong, *mistakes]

    def require_whole(self) -> None:
        """Raises StackFileError if Pulumi would refuse the file, ElsewhereError for Pulumi ESC."""
        if self.wrong:
            lines = (f"{self.name}: {mistake} ({place})" for mistake, place in self.wrong)
            raise StackFileError("\n".join(lines), self.wrong)
        if environment := self.content.get("environment"):
            names = ", ".join(map(str, environment)) if isinstance(environment, list) else "inline"
            raise ElsewhereError(
                f"{self.name} takes values from an environment of Pulumi ESC ({names}), which only "
                "Pulumi Cloud can read. Without these values it cannot be checked."
            )

    def with_place(self, mistake: Mistake) -> str:
        """Returns a mistake with its file, line and column, if its key is in the file."""
        place = self.place_of_key(mistake.path)
        return f"{mistake} ({self.name}:{place.line}:{place.column})" if place else str(mistake)

    def place_of_key(self, path: str) -> Place | None:
        """Returns the place of a key, such as gpuPools[1].vmSize, or of its nearest parent."""
        place, node = None, _member(self.root, "config")[1]
        first, *parts = map(_unquoted, _PART.findall(path)) if path else [""]
        # Some callers pass the namespace of the key, some do not.
        for key in [key for key in self._written if first in (key, key.rpartition(":")[2])][:1]:
            place, node = _member(node, key)
            for part in parts:
                found, node = _member(node, part)
                place = found or place
        return place

    def line_of_name(self, *names: str) -> int | None:
        """Returns the first line with one of these as a name, or otherwise as any value."""
        for name in filter(None, names):
            scalars = list(_scalars(self.root, name))
            named = [line for line, is_name in scalars if is_name]
            if lines := named or [line for line, _ in scalars]:
                return lines[0]
        return None


def read(file: Path) -> StackFile:
    """Raises StackFileError if a file cannot be read."""
    try:
        content = read_own(file)
    except (OSError, ValueError) as error:
        # A stack's name may be too long for a file's, or have a null character.
        if isinstance(error, OSError) and error.errno not in (ENOENT, ENAMETOOLONG):
            raise StackFileError(f"{file.name} cannot be read: {error}") from None
        existing = ", ".join(sorted(path.name for path in file.parent.glob("Pulumi.*.yaml")))
        raise NoStackFileError(
            f"There is no stack file {file.name}. Existing stack files: {existing or 'none'}."
        ) from None
    try:
        return parse(decoded(content), file.name)
    except NoYamlError as error:
        raise _no_yaml(file.name, error) from None


def parse(text: str, name: str) -> StackFile:
    """Raises StackFileError if a text is not a stack file."""
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
        reason = f"{name} must contain a map `config` of keys and values"
        config = _member(root, "config")[1]
        place = place_of(config or root)
        raise StackFileError(f"{reason} ({place})", [*wrong, Written(Mistake("", reason), place)])
    return StackFile(content, root, name, sorted(wrong, key=lambda each: each.place or (0, 0)))


def of_a_program(folder: Path, stack: str) -> StackFile:
    """Returns the stack file of the running program; an empty one if it is somewhere else.

    Only for the places of keys and encrypted values: the engine may use another file, or further
    values.
    """
    try:
        return read(folder / read_project(folder).folder_of_stacks / f"Pulumi.{stack}.yaml")
    except StackFileError:
        return StackFile({})


def as_the_engine_hands_it_over(config: Mapping[str, Any]) -> dict[str, str]:
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
    return number_as_text(value) if isinstance(value, float) else json.dumps(value)


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
            yield from _secrets(member, f"{path}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _secrets(item, f"{path}[{number}]")


def _member(node: yaml.Node | None, part: str) -> tuple[Place | None, yaml.Node | None]:
    """Returns a member of a map or list, with its place."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if meant(key).value == part:
                return place_of(key), meant(value)
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            if str(index) == part:
                return place_of(item), meant(item)
    return None, None


def _unquoted(part: str) -> str:
    return json.loads(part) if part.startswith('"') else part


def _whole_key(key: str) -> str:
    """Returns a key with its namespace, without the `config:` of old versions of Pulumi."""
    namespace, colon, name = key.partition(":")
    return f"{namespace}:{name.removeprefix('config:')}" if colon else f"{PROJECT}:{key}"


def _path_of_key(key: str) -> str:
    """Returns the path of a configuration key: tags, azure-native:tenantId, ["odd key"]."""
    own = key.removeprefix(f"{PROJECT}:")
    return own if re.fullmatch(r"[\w:-]+", own) and not own.isdigit() else property_path("", own)


def _in_config(mistake: Mistake) -> Mistake:
    """Returns a mistake with its path relative to the configuration, if it is inside."""
    if found := re.match(r"config(?:\.(\w+)|\[(\"(?:[^\"\\]|\\.)*\")\])", mistake.path):
        key = found[1] or json.loads(found[2])
        return Mistake(_path_of_key(key) + mistake.path[found.end() :], mistake.reason)
    return mistake


def _no_yaml(name: str, error: NoYamlError) -> StackFileError:
    reason = f"{name} is not valid YAML: {error}"
    where = f" ({error.place})" if error.place else ""
    return StackFileError(f"{reason}{where}", [Written(Mistake("", reason), error.place)])


def _misshapen(root: yaml.Node) -> Iterator[Written]:
    """Yields the mistakes in the structure of a stack file."""
    if not isinstance(root, yaml.MappingNode):
        return
    for key, value in root.value:
        if not is_text(key):
            reason = f"the key {meant(key).value} is not a string: put it in quotes"
            yield Written(Mistake("", reason), place_of(key))
        elif meant(key).value in _TEXTS and not isinstance(meant(value), yaml.ScalarNode):
            yield Written(Mistake(meant(key).value, "must be a string"), place_of(value))
    config, first = _member(root, "config")[1], dict[str, tuple[str, Place]]()
    for key, _ in config.value if isinstance(config, yaml.MappingNode) else ():
        if not isinstance(meant(key), yaml.ScalarNode):
            continue
        place, whole = place_of(key), _whole_key(text := meant(key).value)
        path = _path_of_key(text)
        if not is_text(key):
            yield Written(Mistake(path, "is not a string: put it in quotes"), place)
        elif whole.count(":") != 1:
            yield Written(Mistake(path, "is not a valid key: use NAMESPACE:NAME"), place)
        elif whole in first and text != first[whole][0]:
            reason = f"is a duplicate of the key in {first[whole][1]}"
            yield Written(Mistake(path, reason), place)
        first.setdefault(whole, (text, place))


def _scalars(node: yaml.Node | None, text: str, *, is_name: bool = False) -> list[tuple[int, bool]]:
    """Returns the lines that contain a text, and whether it is a name there."""
    if isinstance(node, yaml.ScalarNode):
        return [(place_of(node).line, is_name)] if node.value == text else []
    lines = []
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            # The keys of a map can be names: `pools: {training: ...}`.
            key_text = str(key.value)
            if key_text.rpartition(":")[2] == text:
                lines.append((place_of(key).line, False))
            lines += _scalars(value, text, is_name=key_text == "name")
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            lines += _scalars(item, text)
    return lines
