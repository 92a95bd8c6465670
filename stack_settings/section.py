"""What a section of a stack file is: a dataclass, whose fields are its keys, and how it is read."""

import difflib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from aks_catalogue.mistakes import KeyMistake, Mistake, property_path, shown
from aks_catalogue.valid import Rules, mistakes, property_mistakes, rules
from components.declared import camel_case, declared
from components.extra_properties import extra_mistakes
from components.kinds import Kind, kind_of
from stack_settings import PROJECT

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# A component's arguments, a dataclass.
Args = TypeVar("Args", bound="DataclassInstance")

# How similar a misspelled key is to the right one; tags is not near taints.
_SIMILAR = 0.65
_WORDS: Mapping[type, str] = MappingProxyType(
    {
        bool: "true or false",
        dict: "a map",
        float: "a number",
        int: "a whole number",
        list: "a list",
        str: "a string",
    }
)


class Section:
    """A section that has keys beside a component's arguments, which it inherits.

    A class of arguments is a section too, if a stack file says no more and no less.
    """

    # The argument that the key `name` is.
    named: ClassVar[str] = ""
    # The arguments that are no keys: the program has them from somewhere else.
    without: ClassVar[Sequence[str]] = ()
    # By key, what makes a value of its other form.
    reads: ClassVar[Mapping[str, Callable[[Any], Any]]] = MappingProxyType({})

    @property
    def name(self) -> str:
        """The value of the key `name`."""
        return str(getattr(self, self.named) or "")

    def as_args(self, kind: type[Args], **more: Any) -> Args:
        """Returns a component's arguments: the values of the keys of the same names, and more."""
        names = {each.name for each in fields(kind)} - more.keys() - {*self.without}
        return kind(**{name: getattr(self, name) for name in names}, **more)


@cache
def arguments_of(section: Any) -> Any:
    """Returns the component's arguments that are keys of a section; None if there are none."""
    kinds = (kind for kind in section.__mro__ if is_dataclass(kind))
    return next((kind for kind in kinds if not issubclass(kind, Section)), None)  # type: ignore[arg-type]


@cache
def keys(section: Any) -> Mapping[str, "Field[Any]"]:
    """Returns the fields of a section that are keys: the name, those of its own, the others."""
    named, without = getattr(section, "named", ""), getattr(section, "without", ())
    own = [kind for kind in reversed(section.__mro__) if issubclass(kind, Section)]
    order = [named, *(name for kind in own for name in inspect.get_annotations(kind))]
    found = [each for each in fields(section) if each.name not in without]
    found.sort(key=lambda each: order.index(each.name) if each.name in order else len(order))
    return {"name" if each.name == named else camel_case(each.name): each for each in found}


@cache
def rules_of(section: Any, *, doubtful: bool = False) -> Rules:
    """Returns the rules by key, or those whose violation is only a warning.

    A key that a section declares anew has its own rules beside those of the argument.
    """
    own = declared(section)
    given = declared(arguments_of(section)) if arguments_of(section) else {}
    about = {
        key: own[each.name]
        if given.get(each.name) in (None, own[each.name])
        else (*given[each.name], *own[each.name])
        for key, each in keys(section).items()
    }
    return rules(about, doubtful=doubtful)


def default_of(key: "Field[Any]") -> Any:
    """Returns the value of a key that is left out; MISSING if it is required."""
    return key.default if key.default_factory is MISSING else key.default_factory()


def must_be(kind: str, value: Any) -> str:
    """Returns the reason of a value that is of another kind."""
    if value in (None, ""):
        return f"is empty: it must be {kind}"
    return f"must be {kind}, not {shown(value)}"


def as_bool(given: Any) -> bool | None:
    """Returns true or false, which the engine may hand over as a text; None for anything else."""
    return {"true": True, "false": False}.get(str(given).lower())


class Reader:
    """Reads one stack: collects all mistakes, and warnings of what is valid but doubtful."""

    def __init__(self, top: Any) -> None:
        self._top = top
        self.mistakes: list[Mistake] = []
        self.warnings: list[str] = []
        # The keys that misspelled ones are taken for.
        self.misspelled: set[str] = set()

    def section(self, kind: Any, given: Any, path: str = "") -> Any:
        """Returns a section. What cannot be read is None in it, or an empty one of its kind."""
        if not isinstance(given, Mapping):
            self._refuse(path, must_be("a map of keys", given))
            return _made(kind, {})
        unknown = {key: _nearest(kind, key) for key in given if key not in keys(kind)}
        values, sound = dict[str, Any](), dict[str, Any]()
        for key, own in keys(kind).items():
            before = len(self.mistakes)
            # What is wrong with the value of a misspelled key is told once the key is right.
            if key in given or key not in unknown.values():
                values[own.name] = self._key(kind, key, given, property_path(path, key))
                if len(self.mistakes) == before:
                    sound[key] = values[own.name]
        section = _made(kind, values)
        self.mistakes += [
            mistake
            for key in sound
            for mistake in property_mistakes(rules_of(kind), key, sound, path)
        ]
        if sound.get("extra"):
            self.mistakes += extra_mistakes(
                arguments_of(kind),
                section.extra,
                by_aks_preview=section.by_aks_preview,
                path=property_path(path, "extra"),
            )
        doubtful = mistakes(rules_of(kind, doubtful=True), sound)
        self.warnings += [reason for _, reason in doubtful]
        self.misspelled |= {property_path(path, near) for near in unknown.values() if near}
        for key, near in unknown.items():
            reason = self._unknown(kind, key, near)
            self.mistakes.append(KeyMistake(property_path(path, key), reason))
        return section

    def _key(self, kind: Any, key: str, written: Mapping[str, Any], path: str) -> Any:
        own, default = kind_of(keys(kind)[key].type), default_of(keys(kind)[key])
        if key in written:
            reads = getattr(kind, "reads", {}).get(key)
            try:
                return self._value(own, reads(written[key]) if reads else written[key], path)
            except ValueError as error:
                self._refuse(path, str(error))
                return _nothing(own)
        if default is MISSING and is_dataclass(own.base):
            return self.section(own.base, {}, path)
        if default is MISSING:
            self._refuse(path, "is required")
        return _nothing(own) if default is MISSING else default

    def _value(self, kind: Kind, given: Any, path: str) -> Any:
        """Returns a value; if it is of another type, None, or an empty list or map."""
        if given in (None, "") and kind.is_optional:
            return None
        if is_dataclass(kind.base):
            return self.section(kind.base, given, path)
        if kind.items and isinstance(given, Mapping) and kind.base is dict:
            return {
                key: self._value(kind.items, value, property_path(path, key))
                for key, value in given.items()
            }
        if kind.items and isinstance(given, list) and kind.base is list:
            return [
                self._value(kind.items, value, property_path(path, index))
                for index, value in enumerate(given)
            ]
        value = given if kind.base is object else _scalar(kind.base, given)
        if value is None and kind.base is not object:
            self._refuse(path, _reason(kind.base, given))
        return _nothing(kind) if value is None else value

    def _unknown(self, kind: Any, key: str, near: str | None) -> str:
        if key in keys(self._top):
            return f"is not a key of this section, but of the stack: use {PROJECT}:{key}"
        hint = f"did you mean {near}?" if near else f"use one of {', '.join(keys(kind))}"
        return f"is not a key of a stack file: {hint}"

    def _refuse(self, path: str, reason: str) -> None:
        self.mistakes.append(Mistake(path, reason))


def _made(kind: Any, values: Mapping[str, Any]) -> Any:
    required = [each for each in fields(kind) if default_of(each) is MISSING]
    return kind(**{**{each.name: _nothing(kind_of(each.type)) for each in required}, **values})


def _nothing(kind: Kind) -> Any:
    if is_dataclass(kind.base) and not kind.is_optional:
        return _made(kind.base, {})
    return kind.base() if kind.items else None


def _nearest(section: Any, key: str) -> str | None:
    """Returns the key that an unknown one is taken for."""
    near = difflib.get_close_matches(key, keys(section), n=1, cutoff=_SIMILAR)
    return near[0] if near else None


def _scalar(kind: type, given: Any) -> Any:
    """Returns a value as a scalar, which the engine may hand over as a text; None if it is none."""
    if kind is bool:
        return as_bool(given)
    if kind is str:
        return given if isinstance(given, str) else None
    with suppress(OverflowError, TypeError, ValueError):
        number = float(given)
        if kind in (int, float) and math.isfinite(number) and not isinstance(given, bool):
            return number if kind is float else int(given) if number.is_integer() else None
    return None


def _reason(kind: type, given: Any) -> str:
    is_number = isinstance(given, int | float) and kind is str
    reason = must_be(_WORDS[kind], given)
    return f"{reason}: use '{shown(given)}'" if is_number else reason
