"""Shapes in words."""

from provider_kit.shapes import Anything, ListOf, MapOf, ObjectOf, Scalar, Shape


def kind_of(shape: Shape) -> str:
    """Returns the kind of a shape as tables and pages call it."""
    match shape:
        case Scalar(kind=kind):
            return kind
        case ListOf(item):
            return f"list of {kind_of(item)}"
        case MapOf(value):
            return f"map of {kind_of(value)}"
        case ObjectOf(name=name):
            return name
        case Anything():
            return "anything"
