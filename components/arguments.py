"""Validates the arguments of components before any resource is registered."""

from collections.abc import Awaitable, Mapping
from dataclasses import fields
from typing import Any, TypeVar

import pulumi

from catalogue.mistakes import Mistake
from catalogue.nodes import OLD_SPELLINGS, spelling
from catalogue.valid import Rules, mistakes
from components import hooks

Choice = TypeVar("Choice")


class ArgumentsError(pulumi.RunError, pulumi.InputPropertiesError):
    """The mistakes in a component's arguments.

    As a RunError, it ends a Python program with its message and without a traceback. As an
    InputPropertiesError, it gives programs in other languages each mistake with its property path.
    """


def check(
    component: str, args: Any, rules: Rules, parts: Mapping[str, Rules] | None = None
) -> None:
    """Raises ArgumentsError with all mistakes in a component's arguments.

    `parts` has the rules of nested arguments, by property.
    """
    found = mistakes(rules, known(args))
    for name, rules_of_part in (parts or {}).items():
        if (part := getattr(args, name)) is not None:
            found += mistakes(rules_of_part, known(part), camel_case(name))
    refuse(component, found)


def warn(component: pulumi.Resource, args: Any, doubts: Rules) -> None:
    """Warns of arguments that are valid but doubtful."""
    for _, reason in mistakes(doubts, known(args)):
        pulumi.log.warn(reason, component)


def refuse(component: str, found: list[Mistake]) -> None:
    """Raises ArgumentsError if there are mistakes."""
    if found:
        raise ArgumentsError(
            "\n".join(f"{component}: {mistake}" for mistake in found),
            [{"property_path": path, "reason": reason} for path, reason in found],
        )


def chosen(
    component: str, path: str, table: Mapping[str, Choice], key: pulumi.Input[str]
) -> pulumi.Output[Choice]:
    """Returns the table's value for a key, which can be an output."""

    async def choice(key: str) -> Choice:
        if key not in table:
            await hooks.registered()
            choices = ", ".join(map(repr, table))
            refuse(component, [Mistake(path, f"input should be one of {choices}, not {key!r}")])
        return table[key]

    return pulumi.Output.from_input(key).apply(choice)


def true_or_nothing(switch: pulumi.Input[bool]) -> pulumi.Input[bool | None]:
    """Returns a boolean input that requests leave out if it is False, which is the default."""
    return pulumi.Output.from_input(switch).apply(lambda on: on or None)


def as_azure_spells_it(gpu_stack: pulumi.Input[str] | None) -> Any:
    """Returns a GPU stack in Azure's spelling, and warns of the old one."""
    if gpu_stack is None:
        return None
    if not isinstance(gpu_stack, str):
        late: Any = gpu_stack
        return pulumi.Output.from_input(late).apply(as_azure_spells_it)
    if gpu_stack not in OLD_SPELLINGS:
        return gpu_stack
    pulumi.log.warn(spelling("gpu_stack", gpu_stack))
    return OLD_SPELLINGS[gpu_stack]


def known(args: Any) -> dict[str, Any]:
    """Returns the arguments by property, without those that contain outputs."""
    values = {camel_case(field.name): getattr(args, field.name) for field in fields(args)}
    return {name: value for name, value in values.items() if _is_known(value)}


def camel_case(name: str) -> str:
    """Returns the schema name of a property: `vmSize` for `vm_size`."""
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def _is_known(value: object) -> bool:
    match value:
        case pulumi.Output() | Awaitable():
            return False
        case Mapping():
            return all(map(_is_known, value.values()))
        case list() | tuple():
            return all(map(_is_known, value))
    return True
