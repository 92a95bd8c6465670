"""Reads the shapes of AKS's resources off Azure's own SDK, so that they are never typed twice."""

import types as python_types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

from azure.mgmt.containerservice import models
from azure.mgmt.containerservice import types as wire

from provider_kit.shapes import (
    BOOLEAN,
    CHOICE,
    INTEGER,
    NUMBER,
    STRING,
    Anything,
    ListOf,
    MapOf,
    ObjectOf,
    Shape,
)

_SCALARS: Mapping[Any, Shape] = python_types.MappingProxyType(
    {bool: BOOLEAN, float: NUMBER, int: INTEGER, str: STRING}
)
# Error reports, with others like themselves inside: read from Azure, never written.
_RECURSIVE = frozenset({"ErrorDetail", "ManagedClusterPodIdentityProvisioningErrorBody"})
# The enumerations are known to the SDK's types under their bare names only.
_NAMES = {**vars(models), **{name: value for name, value in vars(wire).items() if name[0] != "_"}}


@cache
def object_shape(name: str) -> ObjectOf:
    """The shape of one of the SDK's types of requests, by its name."""
    described = getattr(wire, name)
    hints = typing.get_type_hints(described, localns=_NAMES)
    return ObjectOf(
        name,
        python_types.MappingProxyType({field: _shape(hint) for field, hint in hints.items()}),
        frozenset(described.__required_keys__),
    )


def _shape(hint: Any) -> Shape:
    if hint in _SCALARS:
        return _SCALARS[hint]
    if getattr(hint, "__module__", None) == wire.__name__:
        return Anything() if hint.__name__ in _RECURSIVE else object_shape(hint.__name__)
    arguments = typing.get_args(hint)
    container = typing.get_origin(hint)
    if container is list:
        return ListOf(_shape(arguments[0]))
    if container is dict:
        return MapOf(_shape(arguments[1]))
    if str in arguments:  # an enumeration, which Azure lets grow
        return CHOICE
    return Anything()
