"""Reads the configuration of a stack. Reports all mistakes at once, each by its key."""

import json
import typing
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from operator import getitem
from typing import Any

from pydantic import ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import ErrorDetails

from aks_catalogue.mistakes import Mistake, property_path, shown
from aks_catalogue.shapes import mappings
from stack_settings import PROJECT
from stack_settings.model import Settings
from stack_settings.pools import SystemPool
from stack_settings.secrets import Secrets
from stack_settings.section import WORDS, Context, RefusedError, Section, must_be

_NO_SECRETS = Secrets(str, ())


class SettingsError(Exception):
    """The mistakes in a stack file, one for each line of the message."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("\n".join(map(str, mistakes)))
        self.mistakes = mistakes


def load(
    config: Mapping[str, str],
    stack: str,
    warn: Callable[[str], None],
    secrets: Secrets = _NO_SECRETS,
) -> Settings:
    """Returns the settings in a stack's configuration, whose structured values are JSON strings.

    The stack's name makes the default names of the resource group and the cluster.

    Raises SettingsError with all mistakes. Calls `warn` for each setting that is valid but
    doubtful. Values that are secret become what `secrets` makes of them.
    """
    prefix = f"{PROJECT}:"
    values = {
        key.removeprefix(prefix): _value(text)
        for key, text in config.items()
        if key.startswith(prefix)
    }
    context = Context(
        f"{PROJECT}-{stack}",
        Counter(_pool_names(values)),
        Counter(str(each.get("name")) for each in mappings(values.get("gpuCapacity"))),
    )
    secrets = secrets.of_project(PROJECT)
    all_mistakes = list(secrets.mistakes(values))
    try:
        settings = Settings.model_validate(values, context=context)
    except ValidationError as error:
        details = error.errors(include_url=False)
        misspelled = _misspelled(details, values)
        mistakes = [
            mistake
            for each in details
            if not any(each["loc"][: len(place)] == place for place in misspelled)
            for mistake in _mistakes(each)
        ]
        all_mistakes += secrets.masked(mistakes, values)
    if all_mistakes:
        raise SettingsError(all_mistakes)
    for warning in dict.fromkeys(context.warnings):
        warn(warning)
    secrets.warn_of_unlocated(values)
    return secrets.sealed(settings)


def _value(text: str) -> object:
    try:
        return json.loads(text) if text[:1] in ("[", "{") else text
    except json.JSONDecodeError:
        return text


def _pool_names(values: Mapping[str, Any]) -> list[str]:
    """Returns the names of all pools, including those with mistakes."""
    system = values.get("systemPool")
    default = {"name": SystemPool.model_fields["name"].default}
    all_pools = [default | system if isinstance(system, dict) else default]
    for pools in (
        *(values.get(key) for key in ("systemPools", "pools", "gpuPools")),
        *(ladder.get("rungs") for ladder in mappings(values.get("gpuCapacity"))),
    ):
        all_pools += pools if isinstance(pools, list) else []
    names = [pool.get("name") for pool in all_pools if isinstance(pool, dict)]
    return [name for name in names if isinstance(name, str)]


def _misspelled(details: Iterable[ErrorDetails], values: Any) -> set[tuple[int | str, ...]]:
    """Returns the places of the keys for which misspelled ones are taken.

    What is wrong with the value is told once the key is right.
    """
    places = set()
    for error in details:
        *parents, key = error["loc"]
        if error["type"] == "extra_forbidden":
            near = _section_at(tuple(parents)).nearest_key(str(key))
            try:
                written = reduce(getitem, parents, values)
            except LookupError:
                # The section is misspelled too, such as `cluste`, and is read as `cluster`.
                written = {}
            if near and near not in written:
                places.add((*parents, near))
    return places


def _mistakes(error: ErrorDetails) -> list[Mistake]:
    # For a missing key, pydantic reports the name of the field.
    location = [
        to_camel(part) if isinstance(part, str) and "_" in part else part for part in error["loc"]
    ]
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, RefusedError):
        parent = property_path("", *location[:-1])
        return [
            Mistake(f"{parent}.{path}" if parent else path, reason)
            for path, reason in cause.mistakes
        ]
    return [Mistake(property_path("", *location), _reason(error))]


def _reason(error: ErrorDetails) -> str:
    match error["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return _unknown_key(_section_at(error["loc"][:-1]), str(error["loc"][-1]))
        case "value_error":
            return error["msg"].removeprefix("Value error, ")
        case kind:
            value = error["input"]
            reason = must_be(WORDS[kind.partition("_")[0]], value)
            is_number = kind == "string_type" and isinstance(value, int | float)
            return f"{reason}: use '{shown(value)}'" if is_number else reason


def _unknown_key(section: type[Section], key: str) -> str:
    if key in Settings.known_keys():
        return f"is not a key of this section, but of the stack: use {PROJECT}:{key}"
    near = section.nearest_key(key)
    hint = f"did you mean {near}?" if near else f"use one of {', '.join(section.known_keys())}"
    return f"is not a key of a stack file: {hint}"


def _section_at(location: tuple[int | str, ...]) -> type[Section]:
    section: type[Section] = Settings
    for part in location:
        if isinstance(part, str):
            section = _sections(section)[part]
    return section


def _sections(section: type[Section]) -> dict[str, type[Section]]:
    """Returns the nested sections, or the sections in lists, by key."""
    types: dict[str, Any] = {
        str(field.alias): (typing.get_args(field.annotation) or [field.annotation])[0]
        for field in section.model_fields.values()
    }
    return {
        key: kind
        for key, kind in types.items()
        if isinstance(kind, type) and issubclass(kind, Section)
    }
