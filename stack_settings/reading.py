"""Reads the configuration of a stack. Reports all mistakes at once, each by its key."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from aks_catalogue.mistakes import Mistake
from stack_settings import PROJECT, rules
from stack_settings.defaults import with_defaults
from stack_settings.model import Settings
from stack_settings.secrets import Secrets, top_key
from stack_settings.section import Reader

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
    values = {key: _value(text) for key, text in of_project(config).items()}
    written = secrets.readable(values)
    reader = Reader(Settings)
    settings: Settings = reader.section(Settings, with_defaults(written, stack))
    told = {path for path, _ in reader.mistakes}
    across = rules.mistakes(settings, written, set(map(top_key, told | reader.misspelled)))
    found = [*reader.mistakes, *(mistake for mistake in across if mistake.path not in told)]
    if mistakes := [*secrets.mistakes(values, found), *secrets.hidden(found)]:
        raise SettingsError(mistakes)
    for warning in dict.fromkeys(reader.warnings):
        warn(warning)
    secrets.warn_of_unlocated(written)
    sealed: Settings = secrets.sealed(settings)
    return sealed


def of_project(config: Mapping[str, str]) -> dict[str, str]:
    """Returns what is of this project, without its prefix."""
    prefix = f"{PROJECT}:"
    own = {key: text for key, text in config.items() if key.startswith(prefix)}
    return {key.removeprefix(prefix): text for key, text in own.items()}


def _value(text: str) -> object:
    with suppress(json.JSONDecodeError):
        return json.loads(text) if text[:1] in ("[", "{") else text
    return text
