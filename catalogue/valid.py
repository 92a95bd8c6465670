"""What makes values valid: tables of rules, by property, and how they are applied.

A rule gets the value of its property, and the known values of the whole object, by property. It
returns why the value is wrong, or None. A value that nobody gave is None; a property that is not
in the object is not known yet, and nothing is wrong because of it.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from catalogue.mistakes import Mistake, property_path

Values = Mapping[str, Any]
Rule = Callable[[Any, Values], str | None]
# By property; the rules for the items of a list stand under its name with [] behind it.
Rules = Mapping[str, Sequence[Rule]]


def mistakes(rules: Rules, values: Values, path: str = "") -> list[Mistake]:
    """Returns everything that is wrong with an object."""
    return [mistake for name in values for mistake in property_mistakes(rules, name, values, path)]


def property_mistakes(rules: Rules, name: str, values: Values, path: str = "") -> Iterator[Mistake]:
    """Yields what is wrong with one property: the first reason, and the first of each item."""
    own = property_path(path, name)
    yield from _first(rules.get(name, ()), values[name], values, own)
    if item_rules := rules.get(f"{name}[]"):
        for index, item in enumerate(values[name] or ()):
            yield from _first(item_rules, item, values, property_path(own, index))


def _first(rules: Sequence[Rule], value: Any, values: Values, path: str) -> list[Mistake]:
    reasons = (reason for rule in rules if (reason := rule(value, values)))
    return [Mistake(path, reason) for reason in reasons][:1]


def one_of(*choices: str) -> Rule:
    """A rule: the value is one of these."""
    *most, last = map(repr, choices)
    listed = f"{', '.join(most)} or {last}"
    return lambda value, _: (
        None if value is None or value in choices else f"input should be {listed}, not {value!r}"
    )


def between(lowest: int, highest: int) -> Rule:
    """A rule: the number lies between two others, or is one of them."""

    def rule(value: float | None, _: Values) -> str | None:
        if value is None or lowest <= value <= highest:
            return None
        bound = f"greater than or equal to {lowest}"
        if value > highest:
            bound = f"less than or equal to {highest}"
        return f"input should be {bound}, not {value!r}"

    return rule


def matches(pattern: str) -> Rule:
    """A rule: the whole text matches a regular expression."""
    compiled = re.compile(pattern)
    return lambda text, _: (
        None
        if text is None or compiled.fullmatch(text)
        else f"string should match pattern '^{pattern}$', not {text!r}"
    )


def no_longer_than(most: int) -> Rule:
    """A rule: the text has at most so many characters."""
    return lambda text, _: (
        f"string should have at most {most} characters, not {text!r}"
        if text and len(text) > most
        else None
    )
