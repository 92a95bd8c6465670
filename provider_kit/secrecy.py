"""What nobody may read: the secrets of a request, masked in all that is told of it."""

import html
import json
import re
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote, quote_plus

from pulumi.provider.experimental.property_value import PropertyValue

MASK = "[secret]"
_LONGEST = 4000
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[^\S\n]*[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")
# Shorter ones are parts of ordinary words.
_SHORT = 6
_NO_SECRETS = ("", "false", "true")


class Secrets:
    """Of one request of the engine's: what it marks, and what has one of these names."""

    def __init__(self, request: Any = None, names: Collection[str] = ()) -> None:
        self._request = request
        self._names = names
        self._pattern: re.Pattern[str] | None = None

    def masked(self, text: str) -> str:
        if self._pattern is None:
            # They are looked for when it matters.
            self._pattern = masking(set(self._all()))
        return self._pattern.sub(MASK, text)

    def _all(self) -> Iterator[str]:
        for field, value in self._request.ListFields() if self._request is not None else ():
            if field.message_type is not None and field.message_type.name == "Struct":
                for name, held in PropertyValue.unmarshal_map(value).items():
                    yield from self._texts(name, held, is_secret=False)

    def _texts(self, name: str, value: PropertyValue, *, is_secret: bool) -> Iterator[str]:
        is_secret = is_secret or value.is_secret or name in self._names
        match value.value:
            case Mapping() as members:
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


def masking(secrets: set[str]) -> re.Pattern[str]:
    """Finds secrets as they are, and as JSON, HTML and addresses write them; long ones first."""
    forms = {
        form
        for text in {*secrets, *map(str.strip, secrets)}
        for form in (
            text,
            json.dumps(text)[1:-1],
            json.dumps(text, ensure_ascii=False)[1:-1],
            html.escape(text),
            quote(text),
            quote(text, safe=""),
            quote_plus(text),
        )
    }
    ordered = sorted(forms, key=len, reverse=True)
    parts = (
        re.escape(form) if len(form) >= _SHORT else rf"(?<!\w){re.escape(form)}(?!\w)"
        for form in ordered
    )
    # Without any, it finds nothing.
    return re.compile("|".join(parts) or r"(?!)")
