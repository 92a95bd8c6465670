"""Property values, between the engine's form and plain JSON."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc

from provider_kit.secrecy import SHORTEST


class _Unknown:
    """The type of UNKNOWN."""

    def __repr__(self) -> str:
        return "(not known yet)"


# A value that only exists once the resource it comes from does; seen in previews.
UNKNOWN: Final = _Unknown()
# How the engine writes it in the place of a text, a boolean, a number, a list, an asset, an archive
# and an object. A program's SDK writes the first everywhere; outputs of providers have the others.
_MARKS: Final = frozenset(
    {
        rpc.UNKNOWN,
        "1c4a061d-8072-4f0a-a4cb-0ff528b18fe7",
        "3eeb2bf0-c639-47a8-9e75-3b44932eb421",
        "6a19a0b0-7e62-4c92-b797-7f8e31da9cc2",
        "030794c1-ac77-496b-92df-f27374a8bd58",
        "e48ece36-62e2-4504-bad9-02848725956a",
        "dd056dcd-154b-4c76-9bd3-c8f88648b5ff",
    }
)


def plain(value: PropertyValue) -> Any:
    """A property value as JSON has it; UNKNOWN where it is not known yet."""
    match value.value:
        # The engine's marks, which the SDK takes for any text.
        case str() as mark if mark in _MARKS:
            return UNKNOWN
        case float() as number if number.is_integer():
            return int(number)
        case Mapping() as members:
            return {key: plain(member) for key, member in members.items()}
        case (list() | tuple()) as items:
            return [plain(item) for item in items]
        case other:
            return other


def plain_map(values: Mapping[str, PropertyValue]) -> dict[str, Any]:
    return {name: plain(value) for name, value in values.items()}


def property_value(value: Any) -> PropertyValue:
    """The engine's form of a plain value."""
    match value:
        case _Unknown():
            return PropertyValue(rpc.UNKNOWN)
        case bool() | None | str():
            return PropertyValue(value)
        case int() | float():
            return PropertyValue(float(value))
        case Mapping():
            return PropertyValue({key: property_value(member) for key, member in value.items()})
        case list() | tuple():
            return PropertyValue([property_value(item) for item in value])
        case _:
            raise TypeError(f"{type(value).__name__} has no form as a property value")


def property_map(values: Mapping[str, Any]) -> dict[str, PropertyValue]:
    return {name: property_value(value) for name, value in values.items()}


def holds_unknown(value: Any) -> bool:
    """Whether a plain value is unknown, or has something unknown in it."""
    match value:
        case Mapping():
            return any(holds_unknown(member) for member in value.values())
        case list() | tuple():
            return any(holds_unknown(item) for item in value)
        case _:
            return value is UNKNOWN


def without_nulls(value: Any) -> Any:
    """Returns a plain value without the members of its objects that are null."""
    match value:
        case Mapping():
            return {name: without_nulls(held) for name, held in value.items() if held is not None}
        case list():
            return [without_nulls(item) for item in value]
        case _:
            return value


def with_secrets(
    values: Mapping[str, PropertyValue], credentials: Collection[str]
) -> dict[str, PropertyValue]:
    """Returns the same, with whatever has the name of a credential marked as a secret."""
    return {name: _hidden(name, value, credentials) for name, value in values.items()}


def with_secrets_of(
    values: Mapping[str, PropertyValue], others: Mapping[str, PropertyValue]
) -> dict[str, PropertyValue]:
    """Returns the same, with whatever is a secret in the others marked as one."""
    return {name: _hidden_as(value, others.get(name)) for name, value in values.items()}


def with_secrets_anywhere(
    values: Mapping[str, PropertyValue], given: Mapping[str, PropertyValue]
) -> dict[str, PropertyValue]:
    """Returns the same, with each text marked that has a text in it that was given as a secret.

    Azure tells some under names of its own. What was given in clear too is none.
    """
    texts = [found for value in given.values() for found in _texts(value, is_secret=False)]
    clear = {text for text, is_secret in texts if not is_secret}
    secrets = {
        text.casefold()
        for text, is_secret in texts
        if is_secret and len(text) >= SHORTEST and text not in _MARKS
    }
    return {name: _hidden_texts(value, secrets, clear) for name, value in values.items()}


def _texts(value: PropertyValue, *, is_secret: bool) -> Iterator[tuple[str, bool]]:
    """The texts in a value, each with whether it is a secret."""
    is_secret = is_secret or value.is_secret
    match value.value:
        case str() as text:
            yield text, is_secret
        case Mapping() as members:
            for member in members.values():
                yield from _texts(member, is_secret=is_secret)
        case list() | tuple() as items:
            for item in items:
                yield from _texts(item, is_secret=is_secret)


def _hidden_texts(
    value: PropertyValue, secrets: Collection[str], clear: Collection[str]
) -> PropertyValue:
    if value.is_secret:
        return value
    if isinstance(text := value.value, str):
        holds = text not in clear and any(secret in text.casefold() for secret in secrets)
        return value.with_secret(holds)
    return _made_of(value, lambda _, member: _hidden_texts(member, secrets, clear))


def laid_over(
    values: Mapping[str, PropertyValue], others: Mapping[str, PropertyValue]
) -> dict[str, PropertyValue]:
    """Returns values, with those of the others that have no value in their place."""
    return {**others, **{name: _over(value, others.get(name)) for name, value in values.items()}}


def _over(value: PropertyValue, other: PropertyValue | None) -> PropertyValue:
    if other is None:
        return value
    match value.value, other.value:
        case (Mapping() as members, Mapping() as others) if not value.is_secret:
            below = {
                name: held.with_secret(held.is_secret or other.is_secret)
                for name, held in others.items()
            }
            inner: Any = laid_over(members, below)
            return PropertyValue(inner, dependencies=value.dependencies)
    return value


def _hidden_as(value: PropertyValue, other: PropertyValue | None) -> PropertyValue:
    if other is None:
        return value
    match value.value, other.value:
        case (Mapping(), Mapping() as others) if not other.is_secret:
            return _made_of(value, lambda name, member: _hidden_as(member, others.get(name)))
    return value.with_secret(value.is_secret or other.contains_secret())


def _hidden(name: str, value: PropertyValue, credentials: Collection[str]) -> PropertyValue:
    if name in credentials:
        return PropertyValue(value.value, is_secret=True)
    return _made_of(value, lambda inner, member: _hidden(inner, member, credentials))


def _made_of(
    value: PropertyValue, made: Callable[[str, PropertyValue], PropertyValue]
) -> PropertyValue:
    """The same, with each member of an object, and each item of a list, made anew."""
    match value.value:
        case Mapping() as members:
            inner: Any = {name: made(name, member) for name, member in members.items()}
        case list() | tuple() as items:
            inner = [made("", item) for item in items]
        case _:
            return value
    return PropertyValue(inner, is_secret=value.is_secret, dependencies=value.dependencies)
