"""What an argument declares beside its type: the rules of its value, and its place in requests."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import cache, cached_property
from typing import Any, TypeVar, dataclass_transform, get_args

import pulumi

from aks_catalogue.valid import Doubtful, Each, Rule, Rules, rules

Value = TypeVar("Value")
_DECLARED = "aks-gpu:declared"
# The argument is required.
_NO_DEFAULT: Any = MISSING


@dataclass(frozen=True)
class Sent:
    """An argument that requests have at a path of AKS's names: `upgradeSettings.maxSurge`."""

    path: str
    made: Callable[[Any], Any] | None = None
    """Makes what is sent of the value; nothing of it is None."""

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,)


@dataclass(frozen=True)
class Owns:
    """An argument of which the component makes what requests have at these paths."""

    paths: tuple[str, ...]


def at(
    path: str,
    *rules: Rule,
    made: Callable[[Any], Any] | None = None,
    each: Sequence[Rule] = (),
    doubtful: Sequence[Rule] = (),
    default: Value = _NO_DEFAULT,
) -> Value:
    """Declares an argument that requests have at a path: see `Sent`, and `checked` of its rules."""
    return _declared(Sent(path, made), rules, each, doubtful, default)


def makes(
    *paths: str,
    rules: Sequence[Rule] = (),
    each: Sequence[Rule] = (),
    doubtful: Sequence[Rule] = (),
    default: Value = _NO_DEFAULT,
) -> Value:
    """Declares an argument of which the component makes what requests have at these paths."""
    return _declared(Owns(paths), rules, each, doubtful, default)


def checked(
    *rules: Rule,
    each: Sequence[Rule] = (),
    doubtful: Sequence[Rule] = (),
    default: Value = _NO_DEFAULT,
) -> Value:
    """Declares an argument with rules of its value, and of each item of a list.

    The violation of a doubtful rule is only a warning: Azure may accept the value.
    """
    return _declared(None, rules, each, doubtful, default)


def _declared(
    place: Sent | Owns | None,
    rules: Sequence[Rule],
    each: Sequence[Rule],
    doubtful: Sequence[Rule],
    default: Value,
) -> Value:
    about = (*[place] * bool(place), *rules, *map(Each, each), *map(Doubtful, doubtful))
    # A dict as it is would be one for all.
    own: Any = (
        {"default_factory": default.copy} if isinstance(default, dict) else {"default": default}
    )
    declared: Value = field(metadata={_DECLARED: about}, **own)
    return declared


@dataclass_transform(
    kw_only_default=True, frozen_default=True, field_specifiers=(at, makes, checked, field)
)
def arguments(kind: type[Value]) -> type[Value]:
    """Makes a class one of arguments: a frozen dataclass, made by keyword."""
    return dataclass(frozen=True, kw_only=True)(kind)


def looked_up(function: Callable[[Any], Any]) -> Any:
    """Declares an output that needs a request of its own to Azure, made when it is first read."""
    return cached_property(function)


@cache
def declared(arguments: Any) -> dict[str, tuple[Any, ...]]:
    """Returns what a class of arguments declares of each, by its name in Python."""
    return {each.name: each.metadata.get(_DECLARED, ()) for each in fields(arguments)}


@cache
def owned(arguments: Any) -> Mapping[str, str]:
    """Returns the paths of requests that arguments make, each with its argument."""
    found: dict[str, str] = {}
    for each in fields(arguments):
        name, kind = camel_case(each.name), each.type
        places = [it for it in declared(arguments)[each.name] if isinstance(it, Sent | Owns)]
        found |= {path: name for place in places for path in place.paths}
        inner: list[Any] = [it for it in (kind, *get_args(kind)) if is_dataclass(it) and not places]
        found |= {path: f"{name}.{own}" for it in inner for path, own in owned(it).items()}
    return found


@cache
def rules_of(arguments: Any, *, doubtful: bool = False) -> Rules:
    """Returns the rules of arguments by property, or those whose violation is only a warning."""
    by_property = {camel_case(name): about for name, about in declared(arguments).items()}
    return rules(by_property, doubtful=doubtful)


def sent(args: Any) -> dict[str, Any]:
    """Returns the arguments that requests have, nested as there."""
    body: dict[str, Any] = {}
    kind: Any = type(args)
    for name, about in declared(kind).items():
        for place in about:
            if isinstance(place, Sent):
                value = getattr(args, name)
                value = place.made(value) if place.made else value
                if value is not None:
                    *outer, last = place.path.split(".")
                    inner = body
                    for each in outer:
                        inner = inner.setdefault(each, {})
                    inner[last] = value
    return body


def camel_case(name: str) -> str:
    """Returns the schema name of a property: `vmSize` for `vm_size`."""
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


def made(function: Callable[..., Any], *inputs: Any) -> Any:
    """Returns what a function makes of inputs: at once, unless an output is among them.

    Each output is a task of the event loop, and each item of a list makes one, too.
    """
    if all(map(is_known, inputs)):
        return function(*inputs)
    return pulumi.Output.all(*inputs).apply(lambda values: function(*values))


def as_output(value: Any) -> pulumi.Output[Any]:
    """Returns a value as one output: the SDK's own way makes one of each item in it."""
    if is_known(value):
        return pulumi.Output.from_input(None).apply(lambda _: value)
    return pulumi.Output.from_input(value)


def is_known(value: object) -> bool:
    """Whether there is no output in a value."""
    match value:
        case pulumi.Output() | Awaitable():
            return False
        case Mapping():
            return all(map(is_known, value.values()))
        case list() | tuple():
            return all(map(is_known, value))
    return True


def true_or_nothing(switch: pulumi.Input[bool]) -> Any:
    """Returns a boolean input that requests leave out if it is False, which is the default."""
    return made(lambda on: on or None, switch)


def in_order(items: pulumi.Input[Sequence[Any]]) -> Any:
    """Returns a list that azure-native, which compares by index, finds unchanged."""
    return made(lambda known: sorted(map(str, known)) or None, items)


def map_or_empty(entries: pulumi.Input[Mapping[str, Any]] | None) -> pulumi.Input[Any]:
    """Returns a map that is always sent: AKS keeps what a request leaves out."""
    return entries or {}


def nothing_if_empty(items: pulumi.Input[Sequence[Any]]) -> pulumi.Input[Any] | None:
    return items or None
