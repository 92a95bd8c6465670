"""Reads a stack file outside of a Pulumi run, as the program reads it inside of one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from provider_kit.configuration import SETTINGS, Configuration
from settings import Settings, SettingsError, load
from settings.reading import PROJECT

# What the questions to Azure are made of: none of it may be hidden.
_ASKED_ABOUT = (
    "allowRetired",
    "cluster",
    "gpuPools",
    "gpuStack",
    "location",
    "resourceGroup",
    "systemPool",
)
# Whose configuration says which subscription is meant, where the stack file says it.
_PROVIDERS = ("azure-native", "aks-preview")


class StackFileMistakesError(Exception):
    """A stack file that cannot be used, with each of its mistakes."""

    def __init__(self, mistakes: list[str]) -> None:
        super().__init__("\n".join(mistakes))
        self.mistakes = mistakes


@dataclass(frozen=True)
class StackFile:
    """What a stack file says: of the stack, and of the Azure that it is for."""

    settings: Settings
    azure: Configuration
    warnings: list[str]


def read(folder: Path, stack: str) -> StackFile:
    """Raises StackFileMistakesError with every mistake at once."""
    file = folder / f"Pulumi.{stack}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(path.name for path in folder.glob("Pulumi.*.yaml"))) or "none"
        raise StackFileMistakesError([f"there is no stack file {file.name}; there are: {known}"])
    config = _declared(folder / "Pulumi.yaml") | _config(file)
    hidden = [
        f"{place}: is encrypted, and preflight reads no secrets; say it in the clear"
        for key in _ASKED_ABOUT
        for place in _secrets(config.get(f"{PROJECT}:{key}"), key)
    ]
    texts = {
        key: _text(value)
        for key, value in config.items()
        if value is not None and not any(_secrets(value, key))
    }
    warnings: list[str] = []
    try:
        settings = load(texts, warnings.append)
    except SettingsError as error:
        raise StackFileMistakesError([*hidden, *str(error).splitlines()]) from None
    if hidden:
        raise StackFileMistakesError(hidden)
    return StackFile(settings, Configuration(_azure(texts)), warnings)


def _declared(file: Path) -> dict[str, Any]:
    """What the project file says of keys that a stack file leaves out."""
    found = {}
    for key, said in (_config(file) if file.is_file() else {}).items():
        if not isinstance(said, Mapping):
            found[key] = said
        elif "value" in said or "default" in said:
            found[key] = said.get("value", said.get("default"))
    return found


def _config(file: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise StackFileMistakesError([f"{file.name} cannot be read: {error}"]) from None
    except yaml.YAMLError as error:
        said = " ".join(str(error).split())
        raise StackFileMistakesError([f"{file.name} is no YAML: {said}"]) from None
    config = content.get("config") if isinstance(content, dict) else content
    if config is None:
        return {}
    if not isinstance(config, dict):
        raise StackFileMistakesError([f"{file.name} is no map of keys and values below config"])
    # Pulumi takes a key without a namespace for the project's own.
    return {key if ":" in key else f"{PROJECT}:{key}": config[key] for key in map(str, config)}


def _text(value: Any) -> str:
    """A value as Pulumi hands it to a program."""
    return value if isinstance(value, str) else json.dumps(value, default=str)


def _secrets(value: Any, place: str) -> Iterator[str]:
    """Where below a value there is something encrypted."""
    if isinstance(value, Mapping):
        if "secure" in value:
            yield place
            return
        for key, member in value.items():
            yield from _secrets(member, f"{place}.{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _secrets(item, f"{place}[{number}]")


def _azure(texts: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for provider in _PROVIDERS:
        for name in SETTINGS:
            if text := texts.get(f"{provider}:{name}"):
                found[name] = text
    return found
