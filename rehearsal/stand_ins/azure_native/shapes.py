"""Reads the shapes of inputs off the argument classes of azure-native's own SDK."""

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pulumi import _types as sdk_types

from provider_kit.shapes import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    STRING,
    Anything,
    ListOf,
    MapOf,
    ObjectOf,
    Shape,
)

_SCALARS: Mapping[type, Shape] = types.MappingProxyType(
    {bool: BOOLEAN, float: NUMBER, int: INTEGER, str: STRING}
)


@cache
def args_shape(args: type) -> ObjectOf:
    """The shape of an argument class, by the names on the wire."""
    inputs = sdk_types.input_type_types(args)
    return ObjectOf(
        args.__name__,
        types.MappingProxyType({name: _shape(wanted) for name, wanted in inputs.items()}),
        _required(args),
    )


def _required(args: type) -> frozenset[str]:
    names = sdk_types.input_type_py_to_pulumi_names(args)
    parameters = inspect.signature(args.__init__).parameters.values()  # type: ignore[misc]
    return frozenset(
        names[parameter.name]
        for parameter in parameters
        if parameter.name in names and parameter.default is inspect.Parameter.empty
    )


def _shape(wanted: Any) -> Shape:
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        # The type itself stands beside the outputs and enums that may be given in its place.
        shapes = map(_shape, typing.get_args(wanted))
        return next((shape for shape in shapes if shape != Anything()), Anything())
    if isinstance(wanted, type) and issubclass(wanted, str):
        return STRING
    if wanted in _SCALARS:
        return _SCALARS[wanted]
    if sdk_types.is_input_type(wanted):
        return args_shape(wanted)
    return _container(typing.get_origin(wanted), typing.get_args(wanted))


def _container(kind: Any, arguments: tuple[Any, ...]) -> Shape:
    if kind is Sequence:
        return ListOf(_shape(arguments[0]))
    if kind is Mapping:
        return MapOf(_shape(arguments[1]))
    return Anything()
