"""Validates the arguments of components before any resource is registered."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import pulumi

from aks_catalogue.mistakes import Mistake, property_path
from aks_catalogue.valid import mistakes
from components import hooks
from components.declared import camel_case, is_known, rules_of
from components.extra_properties import extra_mistakes

Choice = TypeVar("Choice")


class ArgumentsError(pulumi.RunError, pulumi.InputPropertiesError):
    """The mistakes in a component's arguments.

    As a RunError, it ends a Python program with its message and without a traceback. As an
    InputPropertiesError, it gives programs in other languages each mistake with its property path.
    """


def check(component: str, args: Any) -> None:
    """Raises ArgumentsError with all mistakes in a component's arguments."""
    refuse(component, found_mistakes(args))


def found_mistakes(args: Any, path: str = "", *, doubtful: bool = False) -> list[Mistake]:
    """Returns all mistakes in arguments and in those that are nested in them, or all warnings."""
    kind: Any = type(args)
    values = known(args)
    found = mistakes(rules_of(kind, doubtful=doubtful), values, path)
    if hasattr(args, "extra") and not doubtful:
        own = property_path(path, "extra")
        by_aks_preview: bool = args.by_aks_preview
        found += extra_mistakes(kind, args.extra, by_aks_preview=by_aks_preview, path=own)
    for name, value in values.items():
        own = property_path(path, name)
        if is_dataclass(value):
            found += found_mistakes(value, own, doubtful=doubtful)
        if isinstance(value, list | tuple):
            for index, item in enumerate(value):
                if is_dataclass(item):
                    found += found_mistakes(item, property_path(own, index), doubtful=doubtful)
    return found


def warn(component: pulumi.Resource, args: Any) -> None:
    """Warns of arguments that are valid, but that AKS may refuse."""
    for _, reason in found_mistakes(args, doubtful=True):
        pulumi.log.warn(reason, component)


def refuse(component: str, found: Sequence[Mistake]) -> None:
    """Raises ArgumentsError if there are mistakes."""
    if found:
        raise ArgumentsError(
            "\n".join(f"{component}: {mistake}" for mistake in found),
            [{"property_path": path, "reason": reason} for path, reason in found],
        )


def chosen(
    component: str, path: str, table: Mapping[str, Choice], key: pulumi.Input[str]
) -> pulumi.Input[Choice]:
    """Returns the table's value for a key, which can be an output."""

    async def choice(key: str) -> Choice:
        if key not in table:
            await hooks.registered()
            choices = ", ".join(map(repr, table))
            refuse(component, [Mistake(path, f"must be one of {choices}, not {key!r}")])
        return table[key]

    if isinstance(key, str):
        # A rule has judged it.
        return table[key]
    given: pulumi.Output[str] = pulumi.Output.from_input(key)
    return given.apply(choice)


def known(args: Any) -> dict[str, Any]:
    """Returns the arguments by property, without those that contain outputs."""
    values = {camel_case(field.name): getattr(args, field.name) for field in fields(args)}
    return {name: value for name, value in values.items() if is_known(value)}
