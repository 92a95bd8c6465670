"""Reads a stack's configuration: every mistake at once, each by its key."""

import difflib
import json
import typing
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from settings.model import Settings
from settings.section import Context, Section

PROJECT = "aks-gpu"


class SettingsError(Exception):
    """A stack file that cannot be used; its text has one line a mistake."""


def load(config: Mapping[str, str], warn: Callable[[str], None]) -> Settings:
    """The settings in a stack's configuration, whose structured values are JSON texts.

    Raises SettingsError with one line for each mistake. What can be had but should not is told to
    `warn`.
    """
    prefix = f"{PROJECT}:"
    values = {
        key.removeprefix(prefix): _value(text)
        for key, text in config.items()
        if key.startswith(prefix)
    }
    context = Context.of(values)
    try:
        settings = Settings.model_validate(values, context=context)
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error))) from None
    for warning in dict.fromkeys(context.warnings):
        warn(warning)
    return settings


def _value(text: str) -> object:
    try:
        return json.loads(text) if text[:1] in ("[", "{") else text
    except json.JSONDecodeError:
        return text


def _lines(error: ValidationError) -> list[str]:
    mistakes = error.errors(include_url=False, include_context=False)
    return [_line(_key(mistake["loc"]), mistake) for mistake in mistakes]


def _line(key: str, mistake: ErrorDetails) -> str:
    match mistake["type"]:
        case "missing":
            return f"{key}: is required"
        case "extra_forbidden":
            known = _known_keys(mistake["loc"][:-1])
            near = difflib.get_close_matches(str(mistake["loc"][-1]), known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
            return f"{key}: is not a key of a stack file; {hint}"
        case "value_error":
            message = mistake["msg"].removeprefix("Value error, ")
            return f"{key}: {message}" if key else message
        case _:
            said = mistake["msg"][0].lower() + mistake["msg"][1:]
            return f"{key}: {said}, not {mistake['input']!r}"


def _key(location: tuple[int | str, ...]) -> str:
    """A location as people write it: gpuPools[1].vmSize."""
    key = ""
    for part in map(_written, location):
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def _written(part: int | str) -> int | str:
    if isinstance(part, int):
        return part
    if not part.isidentifier():
        return repr(part)
    # A key that is left out is told by the name that it has in the model.
    return to_camel(part) if "_" in part else part


def _known_keys(location: tuple[int | str, ...]) -> list[str]:
    section: type[Section] = Settings
    for part in location:
        if isinstance(part, str):
            section = _sections(section)[part]
    return [str(field.alias) for field in section.model_fields.values()]


def _sections(section: type[Section]) -> dict[str, type[Section]]:
    """The parts of a part, or what its lists are made of, by their keys."""
    types: dict[str, Any] = {
        str(field.alias): (typing.get_args(field.annotation) or [field.annotation])[0]
        for field in section.model_fields.values()
    }
    return {
        key: kind
        for key, kind in types.items()
        if isinstance(kind, type) and issubclass(kind, Section)
    }
