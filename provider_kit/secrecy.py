"""Masks the secrets of a request in messages and logs."""

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
# Shorter secrets can be parts of ordinary words.
SHORTEST = 6
# Escapes in JSON, URLs and HTML, and white space.
_KINDS = [
    re.compile(kind, re.IGNORECASE)
    for kind in (
        r"\\\\|(?:\\u[0-9a-f]{4})+|\\x[0-9a-f]{2}|\\[\"'/bfnrt]",
        r"(?:%[0-9a-f]{2})+",
        r"&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);",
        r"[\s+]{2,}|[^\S ]|\+",
    )
]
_ESCAPES = re.compile("|".join(kind.pattern for kind in _KINDS), re.IGNORECASE)
# From so many layers on, all escapes are decoded at once: the orders of kinds multiply.
_MOST_LAYERS = 32
_NO_SECRETS = ("", "false", "true", rpc.UNKNOWN)


class Masking:
    """Finds secrets in texts, also as escaped in JSON, HTML and URLs, and as base64.

    Decodes both the secrets and the texts repeatedly, because encodings can be nested.
    """

    def __init__(self, secrets: Collection[str]) -> None:
        decoded = {layer.strip() for text in secrets for layer in _layers(text)}
        self._long = {_folded(text) for text in decoded if len(text) >= SHORTEST}
        self._encoded = {
            layer
            for text in secrets
            if len(text) >= SHORTEST
            for form in _in_base64(text)
            for layer in _layers(form)
        }
        short = [text for text in decoded if 0 < len(text) < SHORTEST]
        short.sort(key=len, reverse=True)
        self._short = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, short)) or '(?!)'})(?!\w)")

    def masked(self, text: str) -> str:
        if not any(any(self._matches(layer)) for layer in _layers(text)):
            return text
        spans = [
            (places[start][0], places[stop - 1][1])
            for layer, places in _layers_with_places(text)
            for start, stop in self._matches(layer)
        ]
        parts, end = [], 0
        for start, stop in sorted(spans):
            if start >= end:
                parts += [text[end:start], MASK]
            end = max(end, stop)
        return "".join([*parts, text[end:]])

    def _matches(self, layer: str) -> Iterator[tuple[int, int]]:
        yield from _spans(_folded(layer), self._long)
        yield from _spans(layer, self._encoded)
        yield from (match.span() for match in self._short.finditer(layer))


class Secrets:
    """The secrets of one request of the engine: by its secret marks, and by these names."""

    def __init__(self, request: Any = None, names: Collection[str] = ()) -> None:
        self._request = request
        self._names = names

    def masked(self, text: str) -> str:
        return self._masking.masked(text)

    @cached_property
    def _masking(self) -> Masking:
        # Only if there is a message.
        return Masking(set(self._all()))

    def _all(self) -> Iterator[str]:
        for field, value in self._request.ListFields() if self._request is not None else ():
            if field.message_type is not None and field.message_type.name == "Struct":
                for name, member in PropertyValue.unmarshal_map(value).items():
                    yield from self._texts(name, member, is_secret=False)

    def _texts(self, name: str, value: PropertyValue, *, is_secret: bool) -> Iterator[str]:
        is_secret = is_secret or value.is_secret or name in self._names
        match value.value:
            case Mapping() as members:
                # The keys of a marked object are secret, too. An object with a secret name has
                # keys of Azure's API.
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


# Each request of the engine has its own context.
_CURRENT: ContextVar[tuple[Secrets, ...]] = ContextVar("secrets", default=())


def hide(*secrets: Secrets) -> None:
    """Sets the secrets to mask for the current request."""
    _CURRENT.set(secrets)


def masked(text: str) -> str:
    """Returns a text without the secrets of the current request."""
    for secrets in _CURRENT.get():
        text = secrets.masked(text)
    return text


def legible(text: str) -> str:
    """Returns a text without secrets and terminal control sequences, of limited length."""
    text = masked(text)
    text = _CONTROL.sub(" ", text.replace("\r\n", "\n")).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def _spans(text: str, secrets: Collection[str]) -> Iterator[tuple[int, int]]:
    """Yields the start and end of each secret in a text."""
    for secret in secrets:
        start = text.find(secret)
        while start >= 0:
            yield start, start + len(secret)
            start = text.find(secret, start + 1)


def _decodings(text: str, layers: int) -> list[re.Pattern[str]]:
    """Returns which escapes to decode next: all at once, or those of one kind.

    Where one encoding is inside another, the inner escapes must wait for the outer ones.
    """
    if layers >= _MOST_LAYERS:
        return [_ESCAPES]
    kinds = [kind for kind in _KINDS if kind.search(text)]
    return [_ESCAPES, *(kinds if len(kinds) > 1 else ())]


def _layers(text: str) -> Iterator[str]:
    """Yields a text, and the results of decoding its escapes again and again."""
    layers, waiting = {text}, [text]
    for layer in waiting:
        yield layer
        for escapes in _decodings(layer, len(waiting)):
            decoded = escapes.sub(lambda match: _character(match[0]), layer)
            if decoded not in layers:
                layers.add(decoded)
                waiting.append(decoded)


def _layers_with_places(text: str) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yields the same layers, each with the places of its characters in the original text."""
    layers = {text: [(place, place + 1) for place in range(len(text))]}
    waiting = [text]
    for layer in waiting:
        yield layer, layers[layer]
        for escapes in _decodings(layer, len(waiting)):
            decoded, places = _decoded_with_places(layer, layers[layer], escapes)
            if decoded not in layers:
                layers[decoded] = places
                waiting.append(decoded)


def _decoded_with_places(
    text: str, places: list[tuple[int, int]], escapes: re.Pattern[str]
) -> tuple[str, list[tuple[int, int]]]:
    parts: list[str] = []
    new_places: list[tuple[int, int]] = []
    end = 0
    for match in escapes.finditer(text):
        characters = _character(match[0])
        start, stop = match.span()
        place = (places[start][0], places[stop - 1][1])
        parts += [text[end:start], characters]
        new_places += [*places[end:start], *([place] * len(characters))]
        end = stop
    return "".join([*parts, text[end:]]), [*new_places, *places[end:]]


def _character(escape: str) -> str:
    """Returns the characters of an escape sequence; an unknown sequence as it is."""
    if escape.startswith("%"):
        return unquote(escape)
    if escape.startswith("&"):
        return html.unescape(escape)
    if not escape.startswith("\\"):
        return " "
    escaped = escape[1:].lower()
    if escaped[:1] == "u":
        units = [int(unit, 16) for unit in escape.lower().split("\\u")[1:]]
        return b"".join(unit.to_bytes(2) for unit in units).decode("utf-16-be", "replace")
    if escaped[:1] == "x":
        return chr(int(escaped[1:], 16))
    return " " if escaped in tuple("bfnrt") else escaped


def _folded(text: str) -> str:
    """Returns a text in lower case, with the same number of characters."""
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _in_base64(text: str) -> Iterator[str]:
    """Yields the base64 of a text, for each of the three offsets in a longer text."""
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + text.encode("utf-8", "replace")).decode()
        # Without the characters that also depend on the surrounding text.
        unpadded = encoded.rstrip("=")
        core = unpadded[(0, 2, 3)[offset] : len(unpadded) - (len(unpadded) != len(encoded))]
        yield core
        yield core.translate(str.maketrans("+/", "-_"))
