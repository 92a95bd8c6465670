"""Reads a stack file without Pulumi, as the program reads it with Pulumi."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aks_catalogue.clusters import PLACEHOLDER
from aks_catalogue.mistakes import property_path
from aks_preview.configuration import PACKAGE, SETTINGS
from aksgpu.outcome import StoppedError
from aksgpu.project import stack_files
from aksgpu.report import findings_of_mistakes
from aksgpu.stack_names import stack_file, stack_of
from provider_kit.configuration import Configuration
from stack_settings import PROJECT
from stack_settings.model import Settings
from stack_settings.reading import SettingsError, load, of_project
from stack_settings.secrets import Secrets, top_key
from stack_settings.stack_file import StackFile, as_engine_config, read_project
from stack_settings.stack_file import read as read_file

# The providers whose config in the stack file can name the subscription. The last one wins.
_PROVIDERS = (PACKAGE, "azure-native")


@dataclass(frozen=True)
class StackConfiguration:
    """A stack file's settings, and its config for access to Azure."""

    settings: Settings
    azure: Configuration
    warnings: list[str]
    # The keys whose values are still placeholders.
    placeholders: Sequence[str] = ()


def read(folder: Path, stack: str) -> StackConfiguration:
    """Raises StoppedError with all mistakes, or StackFileError if the file cannot be read."""
    return configuration_of(read_file(stack_file(stack_files(folder), stack)), folder)


def configuration_of(file: StackFile, folder: Path) -> StackConfiguration:
    """The configuration in a stack file of the project in a folder; raises as `read` does."""
    file = file.over(read_project(folder))
    texts = as_engine_config(file.config)
    file.require_whole()
    warnings, encrypted = list[str](), of_project(file.secrets)
    secrets = Secrets(str, {*map(top_key, encrypted)}, encrypted)
    try:
        settings = load(texts, stack_of(file.name) or "", warnings.append, secrets)
    except SettingsError as error:
        raise StoppedError(*findings_of_mistakes(file.located(error.mistakes))) from None
    azure = Configuration(_azure(texts), PACKAGE, SETTINGS)
    return StackConfiguration(settings, azure, warnings, placeholders(file))


def placeholders(file: StackFile) -> list[str]:
    """The keys of all texts that have the placeholder of an ID in them."""
    own = {key.removeprefix(f"{PROJECT}:"): value for key, value in file.config.items()}
    return [*_placeholders(own)]


def _placeholders(value: Any, path: str = "") -> Iterator[str]:
    match value:
        case Mapping():
            for name, member in value.items():
                yield from _placeholders(member, property_path(path, name))
        case list():
            for index, item in enumerate(value):
                yield from _placeholders(item, property_path(path, index))
        case str() if PLACEHOLDER in value:
            yield path


def _azure(texts: Mapping[str, str]) -> dict[str, str]:
    """The config of both providers, as a program hands it to aks-preview."""
    return {
        name: text
        for provider in _PROVIDERS
        for name in SETTINGS
        if (text := texts.get(f"{provider}:{name}"))
    }
