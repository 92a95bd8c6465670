"""The types of arguments and outputs, as their annotations have them."""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from types import NoneType, UnionType
from typing import Any, ForwardRef, Union, get_args, get_origin

import pulumi

SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}


@dataclass(frozen=True)
class Kind:
    """A type: a scalar, a dataclass, `list` or `dict`, with the kind of its items; or anything."""

    base: type
    # Whether the value can be an output of a resource; for others it decides what is created.
    is_input: bool = False
    is_optional: bool = False
    items: "Kind | None" = None


def kind_of(annotation: Any) -> Kind:
    """Returns the kind of an annotation, such as `Input[Sequence[Input[str]]] | None`."""
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else [annotation]
    [own] = [part for part in parts if part is not NoneType and not _is_of_input(part)]
    is_optional, is_input = NoneType in parts, any(map(_is_of_input, parts))
    origin, inner = get_origin(own), get_args(own)
    if origin is pulumi.Output:
        return kind_of(inner[0])
    if origin in (Sequence, list):
        return Kind(list, is_input, is_optional, kind_of(inner[0]))
    if origin in (Mapping, dict):
        return Kind(dict, is_input, is_optional, kind_of(inner[1]))
    if own is Any:
        return Kind(object, is_input, is_optional)
    if own in SCALARS or is_dataclass(own):
        return Kind(own, is_input, is_optional)
    raise TypeError(f"{annotation} has no form in a package")


def _is_of_input(part: Any) -> bool:
    return isinstance(part, ForwardRef) or get_origin(part) is Awaitable
