"""Reads YAML as Pulumi does, and keeps the line and column of each key and value."""

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from io import StringIO
from typing import Any, NamedTuple

from ruamel.yaml import YAML, MappingNode, Node, ScalarNode, SequenceNode
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from aks_catalogue.mistakes import Mistake, property_path

_TAG = "tag:yaml.org,2002:"
_BOOLEANS = {"true": True, "false": False}
_OCTAL = re.compile("[-+]?0[0-7]+")
# From here on, Go writes exponents.
_LARGEST = 1e21
# Returns the path of the value that keys and numbers lead to.
PathOf = Callable[..., str]


class Place(NamedTuple):
    """A line and column, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class LocatedMistake(NamedTuple):
    """A mistake and its place."""

    mistake: Mistake
    place: Place | None = None


class Yaml(NamedTuple):
    """What a text contains: its value as in JSON, and by path the places of keys and items, and
    the scalars as they are written."""

    value: Any
    places: dict[str, Place]
    scalars: dict[str, str]
    mistakes: list[LocatedMistake]


class NoYamlError(Exception):
    """A text that is not valid YAML."""

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason)
        self.place = place


def decoded(content: bytes) -> str:
    """Decodes UTF-8, with or without a byte order mark. Raises NoYamlError."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        *lines, last = content[: error.start].split(b"\n")
        place = Place(len(lines) + 1, len(last.decode(errors="replace")) + 1)
        raise NoYamlError(f"it is not encoded in UTF-8: {error.reason}", place) from None


def path_of(*keys: str | int) -> str:
    """Returns the path of the value that keys and numbers lead to."""
    return property_path("", *keys)


def read_yaml(text: str, path: PathOf = path_of) -> Yaml:
    """Raises NoYamlError if a text is not one document of YAML."""
    try:
        root = YAML(typ="safe", pure=True).compose(text)
        reader = _Reader(path)
        value = reader.value(root) if root else None
        return Yaml(value, reader.places, reader.scalars, reader.mistakes)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise NoYamlError(reason, _place_of_mark(mark) if mark else None) from None
    except YAMLError as error:
        raise NoYamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise NoYamlError("it contains itself, or is nested too deeply") from None


def to_yaml(content: Mapping[str, Any]) -> str:
    """Returns YAML that Pulumi reads as this content."""
    yaml: Any = YAML(typ="safe", pure=True)
    text = StringIO()
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False
    yaml.dump(dict(content), text)
    return text.getvalue()


def _place(node: Node) -> Place:
    return _place_of_mark(node.start_mark)


def _place_of_mark(mark: Any) -> Place:
    return Place(mark.line + 1, mark.column + 1)


class _Reader:
    """Converts nodes to values, and notes places and mistakes on the way."""

    def __init__(self, path: PathOf) -> None:
        self._path = path
        self.places: dict[str, Place] = {}
        self.scalars: dict[str, str] = {}
        self.mistakes: list[LocatedMistake] = []

    def value(self, node: Node, *keys: str | int) -> Any:
        if isinstance(node, MappingNode):
            return self._map(node, *keys)
        if isinstance(node, SequenceNode):
            return [self._member(item, item, *keys, at) for at, item in enumerate(node.value)]
        self.scalars[self._path(*keys)] = node.value
        return _scalar(node)

    def _map(self, node: Node, *keys: str | int) -> dict[str, Any]:
        own: dict[str, Node] = {}
        members: list[tuple[Node, Node]] = []
        values: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                self._report(key, self._path(*keys), "has a list or a map as a key")
                continue
            path = self._path(*keys, key.value)
            if path in own:
                self._report(key, path, f"is a duplicate of the key in {_place(own[path])}")
            elif key.tag == f"{_TAG}merge":
                # The first of several maps comes before the others.
                maps = value.value if isinstance(value, SequenceNode) else [value]
                for each in reversed(maps):
                    values |= self._merged(each, *keys)
            else:
                members.append((key, value))
            own.setdefault(path, key)
        for key, value in members:
            values[key.value] = self._member(key, value, *keys, key.value)
        return values

    def _merged(self, node: Node, *keys: str | int) -> dict[str, Any]:
        if isinstance(node, MappingNode):
            return self._map(node, *keys)
        self._report(node, self._path(*keys, "<<"), "must be a map, or a list of maps")
        return {}

    def _member(self, start: Node, node: Node, *keys: str | int) -> Any:
        self.places[self._path(*keys)] = _place(start)
        return self.value(node, *keys)

    def _report(self, node: Node, path: str, reason: str) -> None:
        self.mistakes.append(LocatedMistake(Mistake(path, reason), _place(node)))


def _scalar(node: Node) -> Any:
    text = node.value
    match str(node.tag).removeprefix(_TAG):
        case "null":
            return None
        case "bool":
            return _BOOLEANS.get(text.lower(), text)
        case "int" | "float":
            return _number(text)
        case "timestamp":
            # Pulumi passes a date on as Go prints it.
            with suppress(ValueError):
                return f"{date.fromisoformat(text)} 00:00:00 +0000 UTC"
    return text


def _number(text: str) -> int | float | str:
    """Returns a number as Pulumi reads it: 0777 is octal, and 1.0 is 1."""
    digits = text.replace("_", "")
    with suppress(ValueError):
        return int(digits, 8 if _OCTAL.fullmatch(digits) else 0)
    with suppress(ValueError):
        value = float(digits)
        if math.isfinite(value):
            return int(value) if value.is_integer() and abs(value) < _LARGEST else value
    return text
