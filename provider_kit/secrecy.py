"""What nobody may read: the secrets of a request, masked in all that is told of it."""

import base64
import html
import re
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from functools import cached_property
from typing import Any
from urllib.parse import unquote

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

MASK = "[secret]"
_LONGEST = 4000
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[^\S\n]*[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")
# Shorter ones are parts of ordinary words.
SHORTEST = 6
# Ways to write characters: escapes of JSON and its like, of addresses and of HTML, and any blanks.
_WRITTEN = re.compile(
    r"\\\\|(?:\\u[0-9a-f]{4})+|\\x[0-9a-f]{2}|\\[\"'/bfnrt]|(?:%[0-9a-f]{2})+"
    r"|&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);|[\s+]+",
    re.IGNORECASE,
)
_NO_SECRETS = ("", "false", "true", rpc.UNKNOWN)


class Masking:
    """Finds secrets in texts, however JSON, HTML, addresses and base64 write them.

    Both are read as often as they can be, so ways to write them may stand in each other.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        read = {layer.strip() for text in secrets for layer in _layers(text)}
        self._long = {_folded(text) for text in read if len(text) >= SHORTEST}
        self._encoded = {
            layer
            for text in secrets
            if len(text) >= SHORTEST
            for form in _in_base64(text)
            for layer in _layers(form)
        }
        short = sorted((text for text in read if 0 < len(text) < SHORTEST), key=len, reverse=True)
        self._short = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, short)) or '(?!)'})(?!\w)")

    def masked(self, text: str) -> str:
        if not any(any(self._found(layer)) for layer in _layers(text)):
            return text
        spans = [
            (places[start][0], places[stop - 1][1])
            for layer, places in _layers_with_places(text)
            for start, stop in self._found(layer)
        ]
        told, end = [], 0
        for start, stop in sorted(spans):
            if start >= end:
                told += [text[end:start], MASK]
            end = max(end, stop)
        return "".join([*told, text[end:]])

    def _found(self, layer: str) -> Iterator[tuple[int, int]]:
        yield from _spans(_folded(layer), self._long)
        yield from _spans(layer, self._encoded)
        yield from (match.span() for match in self._short.finditer(layer))


class Secrets:
    """Of one request of the engine's: what it marks, and what has one of these names."""

    def __init__(self, request: Any = None, names: Collection[str] = ()) -> None:
        self._request = request
        self._names = names

    def masked(self, text: str) -> str:
        return self._masking.masked(text)

    @cached_property
    def _masking(self) -> Masking:
        # They are looked for when it matters.
        return Masking(set(self._all()))

    def _all(self) -> Iterator[str]:
        for field, value in self._request.ListFields() if self._request is not None else ():
            if field.message_type is not None and field.message_type.name == "Struct":
                for name, held in PropertyValue.unmarshal_map(value).items():
                    yield from self._texts(name, held, is_secret=False)

    def _texts(self, name: str, value: PropertyValue, *, is_secret: bool) -> Iterator[str]:
        is_secret = is_secret or value.is_secret or name in self._names
        match value.value:
            case Mapping() as members:
                # The names in an object that is one by its own name are Azure's.
                if value.is_secret and name not in self._names:
                    yield from members
                for inner, member in members.items():
                    yield from self._texts(inner, member, is_secret=is_secret)
            case list() | tuple() as items:
                for item in items:
                    yield from self._texts("", item, is_secret=is_secret)
            case str() as text if is_secret and text.strip().lower() not in _NO_SECRETS:
                yield text
            case float() as number if is_secret:
                yield f"{number:.15g}"


# Each request of the engine has a context of its own.
_CURRENT: ContextVar[tuple[Secrets, ...]] = ContextVar("secrets", default=())


def hide(*secrets: Secrets) -> None:
    """Masks these, in all that is told of the request that is worked on."""
    _CURRENT.set(secrets)


def masked(text: str) -> str:
    """A text without the secrets of the request that is worked on."""
    for secrets in _CURRENT.get():
        text = secrets.masked(text)
    return text


def legible(text: str) -> str:
    """A text without secrets, without what a terminal takes for a command, and with an end."""
    text = masked(text)
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n")).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _spans(text: str, secrets: Collection[str]) -> Iterator[tuple[int, int]]:
    """Where secrets stand in a text."""
    for secret in secrets:
        start = text.find(secret)
        while start >= 0:
            yield start, start + len(secret)
            start = text.find(secret, start + 1)


def _layers(text: str) -> Iterator[str]:
    """A text as it is, and as it is read each time one reads what is written in it."""
    yield text
    while (read := _WRITTEN.sub(lambda match: _character(match[0]), text)) != text:
        text = read
        yield text


def _layers_with_places(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """The same, each with the places of its characters in the text."""
    places = [(place, place + 1) for place in range(len(text))]
    while True:
        yield text, places
        parts: list[str] = []
        kept: list[tuple[int, int]] = []
        end = 0
        for match in _WRITTEN.finditer(text):
            letters = _character(match[0])
            start, stop = match.span()
            where = (places[start][0], places[stop - 1][1])
            parts += [text[end:start], letters]
            kept += [*places[end:start], *([where] * len(letters))]
            end = stop
        read = "".join([*parts, text[end:]])
        if read == text:
            return
        text, places = read, [*kept, *places[end:]]


def _character(written: str) -> str:
    """What a way to write a character, or several, says; as it is where it says none."""
    if written.startswith("%"):
        return unquote(written)
    if written.startswith("&"):
        return html.unescape(written)
    if not written.startswith("\\"):
        return " "
    escaped = written[1:].lower()
    if escaped[:1] == "u":
        units = [int(unit, 16) for unit in written.lower().split("\\u")[1:]]
        return b"".join(unit.to_bytes(2) for unit in units).decode("utf-16-be", "replace")
    if escaped[:1] == "x":
        return chr(int(escaped[1:], 16))
    return " " if escaped in tuple("bfnrt") else escaped


def _folded(text: str) -> str:
    """A text in one case, each character in its place."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _in_base64(text: str) -> Iterator[str]:
    """What is there of a text in base64, wherever in the encoded it starts."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + text.encode("utf-8", "replace")).decode()
        # What the characters around it have a part in is left out.
        whole = encoded.rstrip("=")
        sure = whole[(0, 2, 3)[before] : len(whole) - (len(whole) != len(encoded))]
        yield sure
        yield sure.translate(str.maketrans("+/", "-_"))
