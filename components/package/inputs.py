"""What a program in another language passes, as the arguments of a component."""

from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from types import MappingProxyType
from typing import Any

import pulumi
from pulumi.provider.experimental.property_value import PropertyValue
from pulumi.resource import DependencyResource

from aks_catalogue.mistakes import Mistake, property_path
from components.package.kinds import Kind
from components.package.schema import argument_fields, is_required
from provider_kit.values import UNKNOWN, plain

_NAMES: Mapping[type, str] = MappingProxyType(
    {
        str: "a string",
        int: "an integer",
        float: "a number",
        bool: "a boolean",
        list: "a list",
        dict: "a map",
    }
)


class Reader:
    """Reads arguments, and collects what is wrong with them.

    A value that cannot be read is an unknown output in the arguments, which no check looks at.
    """

    def __init__(self) -> None:
        self.mistakes: list[Mistake] = []

    def arguments(
        self, arguments: type, values: Mapping[str, PropertyValue], path: str = ""
    ) -> Any:
        """Returns an object of a class of arguments."""
        known = {name: (field, kind) for name, field, kind in argument_fields(arguments)}
        for name in values:
            if name not in known:
                self._refuse(property_path(path, name), _unknown_property(name, known))
        read = {}
        for name, (field, kind) in known.items():
            own = property_path(path, name)
            value = values.get(name)
            if value is not None and not _is_null(value):
                read[field.name] = self._value(value, kind, own)
            elif is_required(field):
                self._refuse(own, "is required")
                read[field.name] = self._unread(kind)
        return arguments(**read)

    def _value(self, value: PropertyValue, kind: Kind, path: str) -> Any:
        if kind.base is object:
            kind = _kind_of_anything(value)
        if not kind.is_input:
            return self._plain(value, kind, path)
        if plain(value) is UNKNOWN:
            return _output(None, value, is_known=False)
        inner = self._inner(value, kind, path)
        return _output(inner, value) if value.is_secret or value.dependencies else inner

    def _plain(self, value: PropertyValue, kind: Kind, path: str) -> Any:
        if plain(value) is UNKNOWN:
            reason = "must be known before the update: it decides which resources there are"
            return self._refused(path, reason, kind)
        is_leaf = kind.items is None and not is_dataclass(kind.base)
        if value.is_secret and is_leaf:
            reason = "cannot be a secret: it decides which resources there are"
            return self._refused(path, reason, kind)
        return self._inner(value if is_leaf else _pushed_down(value), kind, path)

    def _inner(self, value: PropertyValue, kind: Kind, path: str) -> Any:
        match value.value:
            case Mapping() as members if is_dataclass(kind.base):
                return self.arguments(kind.base, members, path)
            case Mapping() as members if kind.base is dict and kind.items:
                return {
                    name: self._value(member, kind.items, property_path(path, name))
                    for name, member in members.items()
                    # Helm takes null for a value that is to be left out.
                    if not _is_null(member) or kind.items.base is object
                }
            case list() | tuple() as items if kind.base is list and kind.items:
                return [
                    self._value(item, kind.items, property_path(path, index))
                    for index, item in enumerate(items)
                ]
            case bool() | str() | float() | None as scalar if type(scalar) is kind.base:
                return scalar
            case float() as number if kind.base is int and number.is_integer():
                return int(number)
            case _:
                return self._refused(path, _is_wrong(value, kind), kind)

    def _refused(self, path: str, reason: str, kind: Kind) -> Any:
        self._refuse(path, reason)
        return self._unread(kind)

    def _refuse(self, path: str, reason: str) -> None:
        self.mistakes.append(Mistake(path, reason))

    def _unread(self, kind: Kind) -> Any:
        if is_dataclass(kind.base):
            parts = argument_fields(kind.base)
            return kind.base(**{field.name: self._unread(part) for _, field, part in parts})
        if kind.items and not kind.is_input:
            return kind.base()
        return _output(None, PropertyValue(None), is_known=False)


def _kind_of_anything(value: PropertyValue) -> Kind:
    """Returns the kind of a value whose type is not declared; all of it can be outputs."""
    match value.value:
        case Mapping():
            return Kind(dict, is_input=True, items=Kind(object))
        case list() | tuple():
            return Kind(list, is_input=True, items=Kind(object))
        case float() as number if number.is_integer():
            return Kind(int, is_input=True)
    return Kind(type(value.value), is_input=True)


def _pushed_down(value: PropertyValue) -> PropertyValue:
    """Returns a list or an object whose members are secret if it was, and depend on the same."""

    def marked(member: PropertyValue) -> PropertyValue:
        dependencies = member.dependencies | value.dependencies
        return PropertyValue(member.value, member.is_secret or value.is_secret, dependencies)

    match value.value:
        case Mapping() as members:
            return PropertyValue({name: marked(member) for name, member in members.items()})
        case list() | tuple() as items:
            return PropertyValue([marked(item) for item in items])
    return value


def _output(inner: Any, value: PropertyValue, *, is_known: bool = True) -> pulumi.Output[Any]:
    """Returns a value as an output that is secret, and depends on resources, as the value is."""

    async def resources() -> set[pulumi.Resource]:
        return {DependencyResource(urn) for urn in value.dependencies}

    async def marker(result: Any) -> Any:
        return result

    own: pulumi.Output[Any] = pulumi.Output(
        resources(), marker(None), marker(is_known), marker(value.is_secret)
    )
    return pulumi.Output.all(own, inner).apply(lambda both: both[1])


def _is_wrong(value: PropertyValue, kind: Kind) -> str:
    written = "a secret of another type" if value.contains_secret() else repr(plain(value))
    return f"must be {_NAMES.get(kind.base, 'an object')}, not {written}"


def _is_null(value: PropertyValue) -> bool:
    return value.value is None


def _unknown_property(name: str, known: Iterable[str]) -> str:
    by_letters = {other.casefold().replace("_", ""): other for other in known}
    nearest = by_letters.get(name.casefold().replace("_", ""))
    if nearest:
        return f"is not a property: did you mean {nearest}?"
    return f"is not a property: use one of {', '.join(sorted(known))}"
