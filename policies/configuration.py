"""Finds mistakes in a configuration of the pack. Pulumi ignores many of them silently."""

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from policies.exceptions import SETTING, date_error, exceptions_in, suggestion
from policies.rules import RULES

LEVELS = ("advisory", "mandatory", "remediate", "disabled")
# The key for all rules, and the key of a rule's level.
_ALL, _LEVEL = "all", "enforcementLevel"
_SETTINGS = {rule.name: rule.config_schema.properties for rule in RULES if rule.config_schema}


class _DuplicateKeyError(ValueError):
    """A key occurs twice in one object; JSON readers take the last one."""


def mistakes_in(text: str) -> list[str]:
    """Returns the mistakes of a configuration, each with its path."""
    try:
        rules = json.loads(text, object_pairs_hook=_object, parse_float=_number)
        if not isinstance(rules, Mapping):
            return ["The configuration is not an object with rules as keys."]
        return [mistake for rule, config in rules.items() for mistake in _check_rule(rule, config)]
    except _DuplicateKeyError as error:
        return [str(error)]
    except ValueError as error:
        return [f"The configuration is not valid JSON: {error}"]
    except RecursionError:
        return ["The configuration is nested too deeply."]


def expired_in(text: str) -> list[str]:
    """Returns the expired exceptions of a configuration without mistakes."""
    exceptions = [
        exception
        for rule, config in json.loads(text).items()
        if isinstance(config, Mapping)
        for exception in exceptions_in(rule, config)
    ]
    if exceptions and (error := date_error()):
        return [error]
    return [
        f"{exception.rule}.{SETTING}: the exception of {exception.resource} expired on "
        f"{exception.until}: remove it, or set a later date."
        for exception in exceptions
        if exception.has_expired
    ]


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in pairs:
        if name in result:
            raise _DuplicateKeyError(
                f"{name} occurs twice in one object, and only the last one has an effect: remove "
                "one of them."
            )
        result[name] = value
    return result


def _number(text: str) -> float:
    """JSON Schema accepts 1.0 as an integer."""
    value = float(text)
    return int(value) if value.is_integer() else value


def _check_rule(rule: str, config: Any) -> Iterator[str]:
    if rule != _ALL and rule not in _SETTINGS:
        yield f"{rule}: the pack has no such rule{suggestion(rule, _SETTINGS)}"
        return
    if not isinstance(config, Mapping):
        yield from _check_level(rule, config)
        return
    if _LEVEL in config:
        yield from _check_level(f"{rule}.{_LEVEL}", config[_LEVEL])
    schemas = _SETTINGS.get(rule, {})
    settings = {name: value for name, value in config.items() if name != _LEVEL}
    for name, value in settings.items():
        if name in schemas:
            yield from _check_value(schemas[name], value, f"{rule}.{name}")
        else:
            names = [_LEVEL, *schemas]
            yield f"{rule}.{name}: the rule has no such setting{suggestion(name, names)}"


def _check_level(path: str, level: Any) -> Iterator[str]:
    if level not in LEVELS:
        yield f"{path}: {_quoted(level)} is not a level{suggestion(str(level), LEVELS)}"


_TYPES: Mapping[str, tuple[str, type | tuple[type, ...]]] = MappingProxyType(
    {
        "array": ("a list", list),
        "integer": ("an integer", int),
        "object": ("an object", dict),
        "string": ("a string", str),
    }
)


def _check_value(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    """Checks a value against the keywords of JSON Schema that the rules use."""
    description, kind = _TYPES[schema["type"]]
    if not isinstance(value, kind) or isinstance(value, bool):
        yield f"{path}: {_quoted(value)} is not {description}."
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _check_value(schema["items"], item, f"{path}[{index}]")
    elif isinstance(value, dict):
        properties, required = schema["properties"], schema["required"]
        yield from (f"{path}: {name} is missing." for name in required if name not in value)
        for name, inner in value.items():
            if name in properties:
                yield from _check_value(properties[name], inner, f"{path}.{name}")
            else:
                yield f"{path}.{name}: there is no such property{suggestion(name, properties)}"
    elif isinstance(value, str):
        yield from _check_text(schema, value, path)
    elif value < schema.get("minimum", value):
        yield f"{path}: {value} is less than {schema['minimum']}."


def _check_text(schema: Mapping[str, Any], value: str, path: str) -> Iterator[str]:
    if value not in schema.get("enum", [value]):
        yield f"{path}: {_quoted(value)} is not supported{suggestion(value, schema['enum'])}"
    # As in the engine, `$` matches only at the very end, and \d only ASCII digits.
    if not re.search(schema.get("pattern", "").replace("$", r"\Z"), value, re.ASCII):
        yield f"{path}: {_quoted(value)} is not valid. Expected: {schema['description']}"


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
