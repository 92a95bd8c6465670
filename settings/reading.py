"""Reads a stack's configuration: every mistake at once, each by its key."""

import difflib
import json
from collections.abc import Mapping

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from settings.model import GpuPool, Section, Settings, SystemPool

PROJECT = "aks-gpu"


class SettingsError(Exception):
    """A stack file that cannot be used; its text has one line a mistake."""


def load(config: Mapping[str, str]) -> Settings:
    """The settings in a stack's configuration, whose structured values are JSON texts.

    Raises SettingsError with one line for each mistake.
    """
    prefix = f"{PROJECT}:"
    values = {
        key.removeprefix(prefix): _value(text)
        for key, text in config.items()
        if key.startswith(prefix)
    }
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        raise SettingsError("\n".join(_lines(error))) from None


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
            known = sorted(_known_keys(mistake["loc"][:-1]))
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
    for part in location:
        key += f"[{part}]" if isinstance(part, int) else f".{part}" if key else part
    return key


def _known_keys(location: tuple[int | str, ...]) -> set[str]:
    sections: dict[str, type[Section]] = {"systemPool": SystemPool, "gpuPools": GpuPool}
    section = sections.get(str(location[0]), Settings) if location else Settings
    return {field.alias or name for name, field in section.model_fields.items()}
