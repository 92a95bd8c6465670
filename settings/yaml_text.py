"""Reads YAML as Pulumi does: the types of scalars, and what Pulumi refuses.

Pulumi uses gopkg.in/yaml.v3, which is between YAML 1.1 and 1.2: `yes` and `1:30` are strings,
`0777` is octal, a duplicate key is a mistake. It converts the values to JSON.
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
# The tag of scalars without a tag and quotes.
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
    (re.compile(r"([-+]?)(0|[1-9][0-9]{0,19})"), 10),
)
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_TIME = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d\d?)-(?P<day>\d\d?)"
    r"(?:(?P<t>[Tt ])(?P<hour>\d\d?):(?P<minute>\d\d?):(?P<second>\d\d?)(?:[.,](?P<part>\d+))?"
    r"(?P<zone>Z|[+-]\d\d:\d\d)?)?",
    re.ASCII,
)
_NO_TEXT = re.compile("[^\x09\x0a\x0d\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# From this number of nodes, the largest share that may come from aliases.
_MANY, _TOO_MANY_ALIASES = 1000, 0.99


class Place(NamedTuple):
    """A line and column, both counted from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class Written(NamedTuple):
    """A mistake and its place."""

    mistake: Mistake
    place: Place | None = None


class NoYamlError(Exception):
    """A text that is not valid YAML."""

    def __init__(self, reason: str, place: Place | None = None) -> None:
        super().__init__(reason)
        self.place = place


class Alias(yaml.Node):
    """A reference to an anchor."""

    id = "alias"
    anchor: str


def decoded(content: bytes) -> str:
    """Decodes UTF-8, or UTF-16 with a byte order mark, as Pulumi does. Raises NoYamlError."""
    marked = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "utf-16" if marked else "utf-8"
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding, errors="replace")
        reason = f"it is not encoded in {encoding.upper()}: {error.reason}"
        raise NoYamlError(reason, _end_of(before)) from None


def composed(text: str) -> yaml.Node | None:
    """Returns the first document, the only one that Pulumi reads. Raises NoYamlError."""
    if control := _NO_TEXT.search(text):
        reason = f"it contains the control character {control[0]!a}"
        raise NoYamlError(reason, _end_of(text[: control.start()]))
    loader = _Loader(text)
    try:
        if not loader.check_node():
            return None
        start: Any = loader.peek_event()  # type: ignore[no-untyped-call]
        if start.version not in (None, (1, 1)):
            raise NoYamlError("only the version YAML 1.1 can be declared", _place(start.start_mark))
        return loader.get_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = ", ".join(filter(None, (error.context, error.problem)))
        raise NoYamlError(reason, _place(mark) if mark else None) from None
    except yaml.YAMLError as error:
        raise NoYamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise NoYamlError("it is nested too deeply") from None


def written(content: Mapping[str, Any]) -> str:
    """Returns YAML that Pulumi reads as this content."""
    return yaml.dump(dict(content), Dumper=_Dumper, sort_keys=False, allow_unicode=True)


def place_of(node: yaml.Node) -> Place:
    return _place(node.start_mark)


def is_text(node: yaml.Node) -> bool:
    """Whether a key is a string, and not a number, a time or null."""
    key = meant(node)
    try:
        return isinstance(key, yaml.ScalarNode) and isinstance(_scalar(key), str)
    except ValueError:
        return False


def meant(node: yaml.Node) -> yaml.Node:
    """Returns the node that an alias refers to, or the node itself."""
    return node.value if isinstance(node, Alias) else node


class Values:
    """Converts nodes to values, and collects all mistakes that Pulumi refuses."""

    def __init__(self) -> None:
        self.wrong: list[Written] = []
        self._open: list[yaml.Node] = []
        self._read = self._read_of_aliases = 0
        self._is_too_much = False

    def of(self, node: yaml.Node, path: str = "") -> Any:
        """Returns a node's value as in JSON. A value with a mistake is None, or left out."""
        self._read += 1
        self._read_of_aliases += any(isinstance(whole, Alias) for whole in self._open)
        if self._is_mostly_aliases(node):
            return None
        if isinstance(node, Alias):
            if node.value in self._open:
                self._report(node, path, "contains itself")
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
        values: dict[str, Any] = {}
        merged: yaml.Node | None = None
        places: dict[tuple[type, Any] | str, Place] = {}
        for key, value in node.value:
            named = self._key(key, path)
            if named is None:
                continue
            below = property_path(path, named)
            # Pulumi compares keys before it converts them to strings.
            as_written = (type(key), key.anchor if isinstance(key, Alias) else key.value)
            first = places.get(as_written) or places.get(named)
            if first:
                self._report(key, below, f"is a duplicate of the key in {first}")
                continue
            places[as_written] = places[named] = place_of(key)
            if named == _MERGE and isinstance(key, yaml.ScalarNode) and key.tag == _PLAIN:
                merged = value
            else:
                values[named] = self.of(value, below)
        for mapping in self._merged(merged, path) if merged is not None else ():
            for name, value in mapping.items():
                values.setdefault(name, value)
        return values

    def _merged(self, node: yaml.Node, path: str) -> Iterator[dict[str, Any]]:
        maps = node.value if isinstance(node, yaml.SequenceNode) else [node]
        for each in maps:
            if not isinstance(meant(each), yaml.MappingNode):
                merge_path = property_path(path, _MERGE)
                self._report(meant(node), merge_path, "must be a map, or a list of maps")
                continue
            value = self.of(each, path)
            if isinstance(value, dict):
                yield value

    def _key(self, node: yaml.Node, path: str) -> str | None:
        """Returns a key as a string."""
        key = meant(node)
        if not isinstance(key, yaml.ScalarNode):
            self._report(node, path, "has a list or a map as a key")
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
            self._report(node, path, str(error))
            return None

    def _is_mostly_aliases(self, node: yaml.Node) -> bool:
        """Whether so many values come from aliases that Pulumi refuses the file."""
        if self._is_too_much:
            return True
        of_aliases = self._read_of_aliases / self._read
        self._is_too_much = self._read > _MANY and of_aliases > _TOO_MANY_ALIASES
        if self._is_too_much:
            self._report(node, "", "contains too many aliases")
        return self._is_too_much

    def _report(self, node: yaml.Node, path: str, reason: str) -> None:
        self.wrong.append(Written(Mistake(path, reason), place_of(node)))


class _Loader(yaml.SafeLoader):
    """Composes nodes without constructing values, which Values does."""

    _is_in_text = _looks_ahead = False

    def scan_plain(self) -> Any:
        self._is_in_text, self._looks_ahead = True, False
        try:
            return super().scan_plain()
        finally:
            self._is_in_text = False

    def peek(self, index: int = 0) -> str:
        """Hides brackets and commas after a colon in a plain scalar of a flow collection.

        In `[a:, b]`, PyYAML ends the scalar there. For Pulumi, only white space after a colon does.
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
        # An anchor can be defined again, and then refers to the later node.
        self.anchors.pop(getattr(event, "anchor", None), None)
        return super().compose_node(parent, index)

    def resolve(self, kind: type[yaml.Node], _value: Any, implicit: Any) -> str:
        return _PLAIN if kind is yaml.ScalarNode and implicit[0] else _TEXT


class _Dumper(yaml.SafeDumper):
    """Quotes strings that Pulumi would read as another type."""

    def ignore_aliases(self, _data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    is_plain = _resolved(text, is_time=True)[0] == "str" and text != _MERGE
    return dumper.represent_scalar(_TEXT, text, style=None if is_plain else '"')


_Dumper.add_representer(str, _text)


def _scalar(node: yaml.ScalarNode) -> Any:
    """Raises ValueError if a scalar does not match its tag, or has no value in JSON."""
    text, tag = node.value, node.tag
    kind = tag.removeprefix(_TAG)
    if tag == f"{_TAG}binary":
        try:
            return base64.b64decode(text.replace("\n", ""), validate=True).decode(errors="replace")
        except binascii.Error:
            raise ValueError("is not valid base64") from None
    if tag not in (_PLAIN, *(f"{_TAG}{known}" for known in _KINDS)):
        return text
    if tag == _TEXT or (tag == _PLAIN and node.style):
        return text
    actual, value = _resolved(text, is_time=kind in ("", "timestamp"))
    if kind == "float" and actual == "int":
        actual, value = "float", float(value)
    if kind not in ("", actual):
        raise ValueError(f"is not of the type {kind}: {text!r}")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"is not a finite number: {text}")
        # Pulumi keeps only the significant digits.
        return int(Decimal(repr(value))) if value.is_integer() and abs(value) < _LARGEST else value
    return value


_KINDS = ("str", "bool", "int", "float", "null", "timestamp")
# Outside of this range, Go writes exponents.
_SMALLEST, _LARGEST = 1e-6, 1e21


def number_as_text(value: float) -> str:
    """Returns a number as Go writes it into JSON."""
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
        if match := pattern.fullmatch(plain):
            value = int(match[1] + match[2], base)
            if -(2**63) <= value < 2**63 or (not match[1] and value < 2**64):
                return "int", value
            break
    as_float = _as_float(plain)
    return as_float if as_float[0] == "float" else ("str", text)


def _as_float(text: str) -> tuple[str, Any]:
    if _FLOAT.fullmatch(text) and math.isfinite(value := float(text)):
        return "float", value
    return "str", text


def _time(text: str) -> str | None:
    """Returns a time as Go writes it; None if the text is not a time."""
    match = _TIME.fullmatch(text)
    # After a T the zone is required, after a space it is not allowed.
    if not match or (match["t"] and (match["t"] == " ") == bool(match["zone"])):
        return None
    year, month, day = (int(match[part]) for part in ("year", "month", "day"))
    hour, minute, second = (int(match[part] or 0) for part in ("hour", "minute", "second"))
    if not 1 <= month <= 12 or hour > 23 or max(minute, second) > 59:
        return None
    days = 29 if month == 2 and calendar.isleap(year) else calendar.monthrange(2001, month)[1]
    if not 1 <= day <= days:
        return None
    part = (match["part"] or "")[:9].rstrip("0")
    zone = (match["zone"] or "Z").replace(":", "")
    zones = "+0000 UTC" if zone in ("Z", "+0000", "-0000") else f"{zone} {zone}"
    clock = f"{hour:02}:{minute:02}:{second:02}" + (f".{part}" if part else "")
    return f"{year:04}-{month:02}-{day:02} {clock} {zones}"


def _place(mark: yaml.Mark) -> Place:
    return Place(mark.line + 1, mark.column + 1)


def _end_of(before: str) -> Place:
    lines = re.split(r"\r\n|[\n\r\x85\u2028\u2029]", before)
    return Place(len(lines), len(lines[-1]) + 1)
