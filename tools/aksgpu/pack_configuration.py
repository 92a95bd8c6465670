"""Finds mistakes in a configuration of the pack. Pulumi ignores many of them silently."""

import json
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, cast

from jsonschema import Draft7Validator, ValidationError

from aksgpu.outcome import Cause, Finding
from policies.configuration import ALL, LEVELS
from policies.organization import LEVEL
from policies.rules import RULES

_ADVICE = "correct it: docs/reference/rules.md has the rules and their settings"
_SETTINGS = {rule.name: rule.config_schema.properties for rule in RULES if rule.config_schema}


class _DuplicateKeyError(ValueError):
    """A key occurs twice in one object; JSON readers take the last one."""


def mistakes_in(text: str) -> list[str]:
    """Returns the mistakes of a configuration, each with its path."""
    try:
        rules = json.loads(text, object_pairs_hook=_object)
        if not isinstance(rules, Mapping):
            return ["The configuration is not an object with rules as keys."]
        return [mistake for rule, config in rules.items() for mistake in _check_rule(rule, config)]
    except _DuplicateKeyError as error:
        return [str(error)]
    except ValueError as error:
        return [f"The configuration is not valid JSON: {error}"]
    except RecursionError:
        return ["The configuration is nested too deeply."]


def findings_in(file: str, text: str) -> list[Finding]:
    """The mistakes of a configuration, as findings about its file."""
    return [mistake_in(file, mistake) for mistake in mistakes_in(text)]


def mistake_in(file: str, mistake: str) -> Finding:
    return Finding(Cause.STACK_FILE_INVALID, mistake, _ADVICE, key=file)


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


def _check_rule(rule: str, config: Any) -> Iterator[str]:
    if rule != ALL and rule not in _SETTINGS:
        yield f"{rule}: the pack has no such rule{_suggestion(rule, _SETTINGS)}"
        return
    if not isinstance(config, Mapping):
        yield from _check_level(rule, config)
        return
    if LEVEL in config:
        yield from _check_level(f"{rule}.{LEVEL}", config[LEVEL])
    schemas = _SETTINGS.get(rule, {})
    settings = {name: value for name, value in config.items() if name != LEVEL}
    for name, value in settings.items():
        if name in schemas:
            yield from _check_value(schemas[name], value, f"{rule}.{name}")
        else:
            names = [LEVEL, *schemas]
            yield f"{rule}.{name}: the rule has no such setting{_suggestion(name, names)}"


def _check_level(path: str, level: Any) -> Iterator[str]:
    if level not in LEVELS:
        yield f"{path}: {_quoted(level)} is not a level{_suggestion(str(level), LEVELS)}"


def _check_value(schema: Mapping[str, Any], value: Any, path: str) -> Iterator[str]:
    mistakes: list[str] = []
    for error in Draft7Validator(dict(schema)).iter_errors(value):
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.path)
        mistakes.append(f"{path}{''.join(steps)}: {_reason(error)}")
    # A text that is too long does not match its pattern either.
    yield from dict.fromkeys(mistakes)


def _reason(error: ValidationError) -> str:
    """Returns the reason with what is right, where the library's own message does not say it."""
    value, schema = _quoted(error.instance), cast(Mapping[str, Any], error.schema)
    match error.validator:
        case "type":
            return f"{value} is not of type {error.validator_value}."
        case "enum":
            names = cast(list[str], error.validator_value)
            return f"{value} is not supported{_suggestion(str(error.instance), names)}"
        case "pattern" | "maxLength":
            return f"{value} is not valid. Expected: {schema['description']}"
        case "additionalProperties":
            return f"{error.message}. Use {', '.join(schema['properties'])}."
        case _:
            return f"{error.message}."


def _suggestion(name: str, names: Iterable[str]) -> str:
    """Returns the end of a message about a name that does not exist: the closest name, or all."""
    near = get_close_matches(name, [*names], 1)
    return f": did you mean {near[0]}?" if near else f": use one of {', '.join(names)}."


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
