"""What is wrong with a configuration of the pack. Pulumi passes much of it over in silence."""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from policies.exceptions import SETTING, day_unknown, exceptions_in, meant
from policies.rules import RULES

LEVELS = ("advisory", "mandatory", "remediate", "disabled")
# The level of all rules, and the level of one beside its settings.
_ALL, _LEVEL = "all", "enforcementLevel"
_SETTINGS = {rule.name: rule.config_schema.properties for rule in RULES if rule.config_schema}


class _TwiceError(ValueError):
    """A name that stands twice in one object; of those JSON takes the last one."""


def mistakes_in(text: str) -> list[str]:
    """The mistakes of a configuration's text, each with its place."""
    try:
        read = json.loads(text, object_pairs_hook=_object, parse_float=_number)
        if not isinstance(read, Mapping):
            return ["This is no object with rules in it."]
        return [mistake for rule, said in read.items() for mistake in _of_rule(rule, said)]
    except _TwiceError as error:
        return [str(error)]
    except ValueError as error:
        return [f"This is no JSON: {error}"]
    except RecursionError:
        return ["This nests too deeply."]


def expired_in(text: str) -> list[str]:
    """The exceptions that no longer count, of a configuration without mistakes."""
    excepted = [
        one
        for rule, said in json.loads(text).items()
        if isinstance(said, Mapping)
        for one in exceptions_in(rule, said)
    ]
    if excepted and (why := day_unknown()):
        return [why]
    return [
        f"{one.rule}.{SETTING}: that of {one.resource} has expired on {one.until}."
        for one in excepted
        if one.has_expired
    ]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise _TwiceError(f"{name} stands twice in one object: the first counts for nothing.")
        made[name] = value
    return made


def _number(text: str) -> float:
    """JSON Schema takes 1.0 for a whole number."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _of_rule(rule: str, said: Any) -> Iterator[str]:
    if rule != _ALL and rule not in _SETTINGS:
        yield f"{rule}: the pack has no such rule{meant(rule, _SETTINGS)}"
        return
    if not isinstance(said, Mapping):
        yield from _of_level(rule, said)
        return
    if _LEVEL in said:
        yield from _of_level(f"{rule}.{_LEVEL}", said[_LEVEL])
    settings = _SETTINGS.get(rule, {})
    given = {name: value for name, value in said.items() if name != _LEVEL}
    for name, value in given.items():
        if name in settings:
            yield from _unlike(settings[name], value, f"{rule}.{name}")
        else:
            yield f"{rule}.{name}: the rule has no such setting{meant(name, [_LEVEL, *settings])}"


def _of_level(place: str, said: Any) -> Iterator[str]:
    if said not in LEVELS:
        yield f"{place}: {_shown(said)} is no level{meant(str(said), LEVELS)}"


_TYPES: Mapping[str, tuple[str, type | tuple[type, ...]]] = MappingProxyType(
    {
        "array": ("a list", list),
        "integer": ("a whole number", int),
        "object": ("an object", dict),
        "string": ("a text", str),
    }
)


def _unlike(schema: Mapping[str, Any], value: Any, place: str) -> Iterator[str]:
    """How a value differs from its schema, by the words of JSON Schema that the rules use."""
    what, kind = _TYPES[schema["type"]]
    if not isinstance(value, kind) or isinstance(value, bool):
        yield f"{place}: {_shown(value)} is not {what}."
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unlike(schema["items"], item, f"{place}[{index}]")
    elif isinstance(value, dict):
        parts, needed = schema["properties"], schema["required"]
        yield from (f"{place}: {name} is missing." for name in needed if name not in value)
        for name, inside in value.items():
            if name in parts:
                yield from _unlike(parts[name], inside, f"{place}.{name}")
            else:
                yield f"{place}.{name}: there is no such part{meant(name, parts)}"
    elif isinstance(value, str):
        yield from _unlike_text(schema, value, place)
    elif value < schema.get("minimum", value):
        yield f"{place}: {value} is less than {schema['minimum']}."


def _unlike_text(schema: Mapping[str, Any], value: str, place: str) -> Iterator[str]:
    if value not in schema.get("enum", [value]):
        yield f"{place}: {_shown(value)} is not to be had{meant(value, schema['enum'])}"
    # As the engine reads a pattern: `$` is the very end, and a digit one of ASCII.
    if not re.search(schema.get("pattern", "").replace("$", r"\Z"), value, re.ASCII):
        yield f"{place}: {_shown(value)} is not: {schema['description']}"


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
