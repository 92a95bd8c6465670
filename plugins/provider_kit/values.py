"""Converts property values between the engine's format and plain JSON, and marks secrets."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.runtime import rpc


class _Unknown:
    """The type of UNKNOWN."""

    def __repr__(self) -> str:
        return "(unknown)"


# A value in a preview that exists only after its resource is created.
UNKNOWN: Final = _Unknown()
# The engine's markers for an unknown string, boolean, number, list, asset, archive and object.
# SDKs of programs use only the first; outputs of providers use the others, too.
_MARKERS: Final = frozenset(
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
    """Returns a property value as plain JSON, or UNKNOWN."""
    match value.value:
        # The SDK reads the engine's markers as ordinary strings.
        case str() as marker if marker in _MARKERS:
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
    """Returns a plain value in the engine's format."""
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
            raise TypeError(f"{type(value).__name__} cannot be a property value")


def property_map(values: Mapping[str, Any]) -> dict[str, PropertyValue]:
    return {name: property_value(value) for name, value in values.items()}


def plain_object(values: Mapping[str, PropertyValue] | None) -> dict[str, Any]:
    """Returns property values as plain JSON without nulls, which clients of servers do not send."""
    return {
        name: _without_nulls(value)
        for name, value in plain_map(values or {}).items()
        if value is not None
    }


def _without_nulls(value: Any) -> Any:
    match value:
        case Mapping():
            return {name: _without_nulls(item) for name, item in value.items() if item is not None}
        case list():
            return [_without_nulls(item) for item in value]
        case _:
            return value


def with_secrets(
    values: Mapping[str, PropertyValue], credentials: Collection[str]
) -> dict[str, PropertyValue]:
    """Returns the values, with every property that has the name of a credential as a secret."""
    return {name: _hidden(name, value, credentials) for name, value in values.items()}


def with_secrets_of(
    values: Mapping[str, PropertyValue], others: Mapping[str, PropertyValue]
) -> dict[str, PropertyValue]:
    """Returns the values, with everything as a secret that is a secret in `others`."""
    return {name: _hidden_as(value, others.get(name)) for name, value in values.items()}


def _hidden_as(value: PropertyValue, other: PropertyValue | None) -> PropertyValue:
    if other is None:
        return value
    match value.value, other.value:
        case (Mapping(), Mapping() as others) if not other.is_secret:
            return _mapped(value, lambda name, member: _hidden_as(member, others.get(name)))
    return value.with_secret(value.is_secret or other.contains_secret())


def _hidden(name: str, value: PropertyValue, credentials: Collection[str]) -> PropertyValue:
    if name in credentials:
        return PropertyValue(value.value, is_secret=True)
    return _mapped(value, lambda inner, member: _hidden(inner, member, credentials))


def _mapped(
    value: PropertyValue, function: Callable[[str, PropertyValue], PropertyValue]
) -> PropertyValue:
    """Applies a function to each member of an object, and each item of a list."""
    match value.value:
        case Mapping() as members:
            inner: Any = {name: function(name, member) for name, member in members.items()}
        case list() | tuple() as items:
            inner = [function("", item) for item in items]
        case _:
            return value
    return PropertyValue(inner, is_secret=value.is_secret, dependencies=value.dependencies)
