"""Validation rules, by property, and how they are applied.

A rule gets the value of a property and the known values of the whole object, by property. It
returns why the value is wrong, or None; of a map, also a mistake for each wrong entry, by its name;
of a list, by a path below it: `[1].vmSize`.
A value that is not set is None. A property that is missing from the object is not known yet, and no
rule fails because of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from aks_catalogue.mistakes import Mistake, property_path

Values = Mapping[str, Any]
Rule = Callable[[Any, Values], str | list[Mistake] | None]
# By property; for the items of a list, the key is the property and `[]`.
Rules = Mapping[str, Sequence[Rule]]


@dataclass(frozen=True)
class Each:
    """A rule of each item of a list."""

    rule: Rule


@dataclass(frozen=True)
class Doubtful:
    """A rule whose violation is only a warning: Azure may accept the value."""

    rule: Rule


def rules(declared: Mapping[str, Sequence[Any]], *, doubtful: bool = False) -> Rules:
    """Returns the rules among what is declared of properties, or those that are only warnings."""
    found: dict[str, list[Rule]] = {}
    for name, about in declared.items():
        for each in about:
            match each:
                case Doubtful(rule=rule) if doubtful:
                    found.setdefault(name, []).append(rule)
                case Each(rule=rule) if not doubtful:
                    found.setdefault(f"{name}[]", []).append(rule)
                case FunctionType() if not doubtful:
                    found.setdefault(name, []).append(each)
    return found


def mistakes(rules: Rules, values: Values, path: str = "") -> list[Mistake]:
    """Returns everything that is wrong with an object."""
    return [mistake for name in values for mistake in property_mistakes(rules, name, values, path)]


def property_mistakes(rules: Rules, name: str, values: Values, path: str = "") -> Iterator[Mistake]:
    """Yields what is wrong with one property: the first reason, and the first of each item."""
    whole = property_path(path, name)
    yield from _first(rules.get(name, ()), values[name], values, whole)
    if item_rules := rules.get(f"{name}[]"):
        for index, item in enumerate(values[name] or ()):
            yield from _first(item_rules, item, values, property_path(whole, index))


def _first(rules: Sequence[Rule], value: Any, values: Values, path: str) -> list[Mistake]:
    try:
        found = next(filter(None, (rule(value, values) for rule in rules)), [])
    except (AttributeError, TypeError):
        return [Mistake(path, f"cannot be {value!r}: wrong type")]
    if isinstance(found, str):
        return [Mistake(path, found)]
    return [
        Mistake(path + name if name.startswith("[") else property_path(path, name), reason)
        for name, reason in found
    ]


def wrong_if(is_wrong: Callable[[Any, Values], Any], reason: str) -> Rule:
    """Returns a rule. In the reason, {} or {!r} stands for the value."""
    return lambda value, values: reason.format(value) if is_wrong(value, values) else None


def one_of(*choices: str) -> Rule:
    """Returns a rule: the value must be one of these."""
    *most, last = map(repr, choices)
    return wrong_if(
        lambda value, _: value is not None and value not in choices,
        f"must be {', '.join(most)} or {last}, not {{!r}}",
    )


def between(lowest: int, highest: int) -> Rule:
    """Returns a rule: the number must be in this range, including its ends."""

    def check(value: int | None, _: Values) -> str | None:
        if value is None or lowest <= value <= highest:
            return None
        bound = f"at least {lowest}" if value < lowest else f"at most {highest}"
        return f"must be {bound}, not {value!r}"

    return check


def resource_id(kind: str, what: str) -> Rule:
    """Returns a rule: the string must be the resource ID of something of Azure's."""
    return wrong_if(
        lambda text, _: text and f"/{kind}/" not in text,
        f"{{!r}} is not the resource ID of {what}: use /subscriptions/.../{kind}/NAME",
    )


def matches(pattern: re.Pattern[str], reason: str) -> Rule:
    """Returns a rule: the whole string must match a regular expression."""
    return wrong_if(lambda text, _: text is not None and not pattern.fullmatch(text), reason)
