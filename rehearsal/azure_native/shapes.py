"""What inputs may look like, read off the argument classes of azure-native's own SDK."""

import inspect
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pulumi import _types as sdk_types

from aks_preview.values import UNKNOWN

_SCALARS: Mapping[type, tuple[type, ...]] = {
    bool: (bool,),
    int: (int,),
    float: (int, float),
    str: (str,),
}


class Mistake(NamedTuple):
    path: str
    reason: str


@cache
def input_types(args: type) -> Mapping[str, Any]:
    """The inputs that an argument class takes, by their names on the wire, with their types."""
    return types.MappingProxyType(sdk_types.input_type_types(args))


@cache
def _required(args: type) -> frozenset[str]:
    names = sdk_types.input_type_py_to_pulumi_names(args)
    parameters = inspect.signature(args.__init__).parameters.values()  # type: ignore[misc]
    return frozenset(
        names[parameter.name]
        for parameter in parameters
        if parameter.name in names and parameter.default is inspect.Parameter.empty
    )


def mistakes(args: type, values: Mapping[str, Any], path: str = "") -> Iterator[Mistake]:
    """Everything that is wrong with a set of inputs."""
    known = input_types(args)
    for name in sorted(_required(args) - values.keys()):
        yield Mistake(_join(path, name), "is required")
    for name, value in values.items():
        if name in known:
            yield from _value_mistakes(known[name], value, _join(path, name))
        else:
            yield Mistake(_join(path, name), f"is not a property of {args.__name__}")


def _value_mistakes(wanted: Any, value: Any, path: str) -> Iterator[Mistake]:
    wanted = _without_inputs(wanted)
    if value is UNKNOWN or value is None or wanted is None:
        return
    if wanted in _SCALARS:
        if type(value) not in _SCALARS[wanted]:
            yield Mistake(path, f"is {value!r}, but has to be of type {wanted.__name__}")
    elif sdk_types.is_input_type(wanted):
        if isinstance(value, Mapping):
            yield from mistakes(wanted, value, path)
        else:
            yield Mistake(path, f"is {value!r}, but has to be an object")
    else:
        yield from _members_mistakes(wanted, value, path)


def _members_mistakes(wanted: Any, value: Any, path: str) -> Iterator[Mistake]:
    container, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if container is Sequence and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _value_mistakes(arguments[0], item, f"{path}[{index}]")
    elif container is Mapping and isinstance(value, Mapping):
        for key, member in value.items():
            yield from _value_mistakes(arguments[1], member, f"{path}[{key!r}]")
    elif container in (Sequence, Mapping):
        kind = "a list" if container is Sequence else "a map"
        yield Mistake(path, f"is {value!r}, but has to be {kind}")


def _without_inputs(wanted: Any) -> Any:
    """The type itself, without the outputs and enums that stand for it as well."""
    if isinstance(wanted, type) and issubclass(wanted, str):
        return str
    if typing.get_origin(wanted) not in (typing.Union, types.UnionType):
        return wanted
    return next(
        (option for option in typing.get_args(wanted) if _stands_for_itself(option)),
        None,
    )


def _stands_for_itself(option: Any) -> bool:
    return (
        option in _SCALARS
        or sdk_types.is_input_type(option)
        or typing.get_origin(option) in (Sequence, Mapping)
    )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
