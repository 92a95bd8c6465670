"""YAML as Pulumi reads it: what is a number, what is a text, and what it refuses.

Pulumi reads its files with gopkg.in/yaml.v3, which is between YAML 1.1 and 1.2: `yes` and `1:30`
are texts, `0777` is octal, a key that stands twice is a mistake. Then it writes them anew as JSON.
"""

import base64
import binascii
import calendar
import codecs
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, NamedTuple

import yaml

from catalogue.mistakes import Mistake, property_path

_TAG = "tag:yaml.org,2002:"
_TEXT, _MERGE = f"{_TAG}str", "<<"
# Of what has no tag and is not quoted.
_PLAIN = ""
_NAMED = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **{sign + word: math.inf for word in (".inf", ".Inf", ".INF") for sign in ("", "+")},
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INTEGERS = (
    (re.compile(r"([-+]?)0[xX]([0-9a-fA-F]+)"), 16),
    (re.compile(r"([-+]?)0[bB]([01]+)"), 2),
    (re.compile(r"([-+]?)0[oO]?([0-7]+)"), 8),
    (re.compile(r"([-+]?)(0|[1-9][0-9]*)"), 10),
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TIME = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"
    r"(?:(?P<t>[Tt ])(?P<hour>\d\d?):(?P<minute>\d\d?):(?P<second>\d\d?)(?:[.,](?P<part>\d+))?"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)
_NO_TEXT = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# With so much to read, most of it may not stand behind aliases.
_MANY, _TOO_MANY_ALIASES = 1000, 0.99


class Place(NamedTuple):
    """Where something is written; the first line and the first column are 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class Written(NamedTuple):
    """A mistake, and where it is written."""

    mistake: Mistake
    place: Place | None = None


class NoYamlError(Exception):
    """A text that is no YAML."""

    def __init__(self, why: str, place: Place | None = None) -> None:
        super().__init__(why)
        self.place = place


class Alias(yaml.Node):
    """Where something stands for what has been said before."""

    id = "alias"
    anchor: str


def decoded(content: bytes) -> str:
    """Raises NoYamlError where bytes are no text: Pulumi takes UTF-8, and UTF-16 with its mark."""
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if marked else "utf-8"
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, errors="replace")
        why = f"is not written in {encoding.upper()}: {error.reason}"
        raise NoYamlError(why, _end_of(before)) from None


def composed(text: str) -> yaml.Node | None:
    """The first document of a text, as Pulumi reads no other. Raises NoYamlError."""
    if ruling := _NO_TEXT.search(text):
        why = f"has a control character, {ruling[0]!a}"
        raise NoYamlError(why, _end_of(text[: ruling.start()]))
    loader = _Loader(text)
    try:
        if not loader.check_node():
            return None
        start: Any = loader.peek_event()  # type: ignore[no-untyped-call]
        if start.version not in (None, (1, 1)):
            raise NoYamlError(
                "only YAML 1.1 can be said to be what it is", _place(start.start_mark)
            )
        return loader.get_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        why = ", ".join(filter(None, (error.context, error.problem)))
        raise NoYamlError(why, _place(mark) if mark else None) from None
    except yaml.YAMLError as error:
        raise NoYamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise NoYamlError("is too deep") from None


def written(content: Mapping[str, Any]) -> str:
    """YAML that Pulumi reads as this content."""
    return yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def place_of(node: yaml.Node) -> Place:
    return _place(node.start_mark)


def is_text(node: yaml.Node) -> bool:
    """Whether a key is a text, and not a number, a time, or nothing."""
    key = meant(node)
    try:
        return isinstance(key, yaml.ScalarNode) and isinstance(_scalar(key), str)
    except ValueError:
        return False


def meant(node: yaml.Node) -> yaml.Node:
    """What an alias stands for, or the node itself."""
    return node.value if isinstance(node, Alias) else node


class Values:
    """The values below nodes, with every mistake that keeps Pulumi from reading them."""

    def __init__(self) -> None:
        self.wrong: list[Written] = []
        self._open: list[yaml.Node] = []
        self._read = self._read_of_aliases = 0
        self._is_too_much = False

    def of(self, node: yaml.Node, path: str = "") -> Any:
        """A value as JSON has it; what cannot be read is None, or left out, and told."""
        self._read += 1
        self._read_of_aliases += any(isinstance(whole, Alias) for whole in self._open)
        if self._says_too_much(node):
            return None
        if isinstance(node, Alias):
            if node.value in self._open:
                self._tell(node, path, "contains itself")
                return None
            return self._inside(node, lambda: self.of(node.value, path))
        if isinstance(node, yaml.MappingNode):
            return self._inside(node, lambda: self._map(node, path))
        if isinstance(node, yaml.SequenceNode):
            return self._inside(node, lambda: self._list(node, path))
        return self._checked(node, path)

    def _inside(self, node: yaml.Node, read: Callable[[], Any]) -> Any:
        self._open.append(node)
        try:
            return read()
        finally:
            self._open.pop()

    def _list(self, node: yaml.Node, path: str) -> list[Any]:
        return [
            self.of(item, property_path(path, number)) for number, item in enumerate(node.value)
        ]

    def _map(self, node: yaml.Node, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        merged: yaml.Node | None = None
        places: dict[tuple[type, Any] | str, Place] = {}
        for key, value in node.value:
            named = self._key(key, path)
            if named is None:
                continue
            below = property_path(path, named)
            # Pulumi compares keys as they are written, and makes texts of them later.
            as_written = (type(key), key.anchor if isinstance(key, Alias) else key.value)
            first = places.get(as_written) or places.get(named)
            if first:
                self._tell(key, below, f"stands twice, first in {first}")
                continue
            places[as_written] = places[named] = place_of(key)
            if named == _MERGE and isinstance(key, yaml.ScalarNode) and key.tag == _PLAIN:
                merged = value
            else:
                found[named] = self.of(value, below)
        for whole in self._merged(merged, path) if merged is not None else ():
            for name, value in whole.items():
                found.setdefault(name, value)
        return found

    def _merged(self, node: yaml.Node, path: str) -> Iterator[dict[str, Any]]:
        said = meant(node)
        each = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for one in each:
            if not isinstance(meant(one), yaml.MappingNode):
                self._tell(said, property_path(path, _MERGE), "is to be a map, or a list of maps")
                continue
            value = self.of(one, path)
            if isinstance(value, dict):
                yield value

    def _key(self, node: yaml.Node, path: str) -> str | None:
        """A key as a text, whatever it is."""
        key = meant(node)
        if not isinstance(key, yaml.ScalarNode):
            self._tell(node, path, "has a key that is a list or a map")
            return None
        value = self._checked(key, path)
        if value is None:
            return "<nil>"
        if isinstance(value, str):
            return value
        return str(value) if isinstance(value, float) else json.dumps(value)

    def _checked(self, node: Any, path: str) -> Any:
        try:
            return _scalar(node)
        except ValueError as error:
            self._tell(node, path, str(error))
            return None

    def _says_too_much(self, node: yaml.Node) -> bool:
        """Whether so few nodes stand for so many that Pulumi refuses to read them."""
        if self._is_too_much:
            return True
        of_aliases = self._read_of_aliases / self._read
        self._is_too_much = self._read > _MANY and of_aliases > _TOO_MANY_ALIASES
        if self._is_too_much:
            self._tell(node, "", "too much stands behind aliases")
        return self._is_too_much

    def _tell(self, node: yaml.Node, path: str, why: str) -> None:
        self.wrong.append(Written(Mistake(path, why), place_of(node)))


class _Loader(yaml.SafeLoader):
    """Composes nodes alone: what they mean, Values tells."""

    _is_in_text = _looks_ahead = False

    def scan_plain(self) -> Any:
        self._is_in_text, self._looks_ahead = True, False
        try:
            return super().scan_plain()
        finally:
            self._is_in_text = False

    def peek(self, index: int = 0) -> str:
        """In a text, the letter after a colon decides whether the text ends.

        To PyYAML a bracket or a comma ends it in a list or map of one line, as in `[a:, b]`; to
        Pulumi blanks alone do.
        """
        letter: str = super().peek(index)
        if not self._is_in_text:
            return letter
        is_after_colon, self._looks_ahead = self._looks_ahead, False
        if is_after_colon:
            return "a" if letter in ",[]{}" and self.flow_level else letter
        self._looks_ahead = letter == ":"
        return letter

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent):
            alias = Alias("", super().compose_node(parent, index), event.start_mark, event.end_mark)
            alias.anchor = event.anchor
            return alias
        # A name may be given again, and stands for the later one from there on.
        self.anchors.pop(getattr(event, "anchor", None), None)
        return super().compose_node(parent, index)

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        return _PLAIN if kind is yaml.ScalarNode and implicit[0] else _TEXT


class _Dumper(yaml.SafeDumper):
    """Puts into quotes what Pulumi takes for something else than a text."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_plain = _resolved(text, is_time=True)[0] == "str" and text != _MERGE
    return dumper.represent_scalar(_TEXT, text, style=None if is_plain else '"')


_Dumper.add_representer(str, _text)


def _scalar(node: yaml.ScalarNode) -> Any:
    """Raises ValueError where a scalar is not what its tag says, or nothing that JSON has."""
    text, tag = node.value, node.tag
    kind = tag.removeprefix(_TAG)
    if tag == f"{_TAG}binary":
        try:
            return base64.b64decode(text.replace("\n", ""), validate=True).decode(errors="replace")
        except binascii.Error:
            raise ValueError("is no base64") from None
    if tag not in (_PLAIN, *(f"{_TAG}{known}" for known in _KINDS)):
        return text
    if tag == _TEXT or (tag == _PLAIN and node.style):
        return text
    found, value = _resolved(text, is_time=kind in ("", "timestamp"))
    if kind == "float" and found == "int":
        found, value = "float", float(value)
    if kind not in ("", found):
        raise ValueError(f"is no {kind}: {text!r}")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"is no number that Pulumi can keep: {text}")
        # Pulumi keeps the digits that are needed to tell it from others.
        return int(Decimal(repr(value))) if value.is_integer() and abs(value) < _LARGEST else value
    return value


_KINDS = ("str", "bool", "int", "float", "null", "timestamp")
# Outside of these Go writes exponents.
_SMALLEST, _LARGEST = 1e-6, 1e21


def number_as_text(value: float) -> str:
    """A number as Go writes it into JSON."""
    if _SMALLEST <= abs(value) < _LARGEST:
        return format(Decimal(repr(value)), "f")
    return re.sub(r"(e[-+])0", r"\1", repr(value))


def _resolved(text: str, *, is_time: bool) -> tuple[str, Any]:
    if text in _NAMED:
        value = _NAMED[text]
        kinds = {type(None): "null", bool: "bool", float: "float"}
        return kinds[type(value)], value
    if text[:1] == ".":
        return _as_float(text)
    if text[:1] not in "+-0123456789" or not text:
        return "str", text
    if is_time and (time := _time(text)):
        return "timestamp", time
    plain = text.replace("_", "")
    for pattern, base in _INTEGERS:
        if said := pattern.fullmatch(plain):
            value = int(said[1] + said[2], base)
            if -(2**63) <= value < 2**63 or (not said[1] and value < 2**64):
                return "int", value
            break
    found = _as_float(plain)
    return found if found[0] == "float" else ("str", text)


def _as_float(text: str) -> tuple[str, Any]:
    if _FLOAT.fullmatch(text) and math.isfinite(value := float(text)):
        return "float", value
    return "str", text


def _time(text: str) -> str | None:
    """A time as Go writes it; None where it is none."""
    said = _TIME.fullmatch(text)
    # A time has its zone after a T, and none after a blank.
    if not said or (said["t"] and (said["t"] == " ") == bool(said["zone"])):
        return None
    year, month, day = (int(said[part]) for part in ("year", "month", "day"))
    hour, minute, second = (int(said[part] or 0) for part in ("hour", "minute", "second"))
    if not 1 <= month <= 12 or hour > 23 or max(minute, second) > 59:
        return None
    days = 29 if month == 2 and calendar.isleap(year) else calendar.monthrange(2001, month)[1]
    if not 1 <= day <= days:
        return None
    part = (said["part"] or "")[:9].rstrip("0")
    zone = (said["zone"] or "Z").replace(":", "")
    zones = "+0000 UTC" if zone in ("Z", "+0000", "-0000") else f"{zone} {zone}"
    clock = f"{hour:02}:{minute:02}:{second:02}" + (f".{part}" if part else "")
    return f"{year:04}-{month:02}-{day:02} {clock} {zones}"


def _place(mark: yaml.Mark) -> Place:
    return Place(mark.line + 1, mark.column + 1)


def _end_of(before: str) -> Place:
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", before)
    return Place(len(lines), len(lines[-1]) + 1)
