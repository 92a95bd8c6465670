"""Masks the secrets of a request in messages and logs."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextvars import ContextVar
from functools import cached_property
from typing import Any

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

MASK = "[secret]"
_LONGEST = 4000
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]+")
# Shorter secrets can be parts of ordinary words.
SHORTEST = 6
_NO_SECRETS = ("", "false", "true", rpc.UNKNOWN)


class Masking:
    """Finds the exact text of secrets, the longest first. Short ones only as whole words."""

    def __init__(self, secrets: Collection[str]) -> None:
        texts = sorted({text.strip() for text in secrets} - {""}, key=len, reverse=True)
        patterns = [
            re.escape(text) if len(text) >= SHORTEST else rf"(?<!\w){re.escape(text)}(?!\w)"
            for text in texts
        ]
        self._secrets = re.compile("|".join(patterns)) if patterns else None

    def masked(self, text: str) -> str:
        return self._secrets.sub(MASK, text) if self._secrets else text


class Secrets:
    """The secrets of requests of the engine: by its secret marks, and by these names."""

    def __init__(self, names: Collection[str], *requests: Any) -> None:
        self._names = names
        self._requests = requests

    def masked(self, text: str) -> str:
        return self._masking.masked(text)

    @cached_property
    def _masking(self) -> Masking:
        # Only if there is a message.
        return Masking({text for request in self._requests for text in self._all(request)})

    def _all(self, request: Any) -> Iterator[str]:
        for field, value in request.ListFields():
            if field.message_type is not None and field.message_type.name == "Struct":
                for name, member in PropertyValue.unmarshal_map(value).items():
                    yield from self._texts(name, member, is_secret=False)

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


# Each request of the engine has its own context.
_NONE = Secrets(())
_CURRENT: ContextVar[Secrets] = ContextVar("secrets", default=_NONE)


def hide(secrets: Secrets) -> None:
    """Sets the secrets to mask for the current request."""
    _CURRENT.set(secrets)


def masked(text: str) -> str:
    """Returns a text without the secrets of the current request."""
    return _CURRENT.get().masked(text)


def legible(text: str) -> str:
    """Returns a text without secrets and terminal control sequences, of limited length."""
    text = _CONTROL.sub(" ", masked(text).replace("\r\n", "\n")).strip()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."
