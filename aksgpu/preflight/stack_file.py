"""Reads a stack file outside of a Pulumi run, as the program reads it inside of one."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from aks_preview.configuration import PACKAGE, SETTINGS, contradictions
from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.project import stack_files
from aksgpu.report import findings_of_mistakes
from aksgpu.stack_names import stack_file
from catalogue.mistakes import Mistake
from provider_kit.configuration import Configuration
from settings import Settings, SettingsError, load
from settings.project_file import read_project
from settings.reading import PROJECT
from settings.secrets import cannot_be_secret
from settings.stack_file import StackFile, as_the_engine_hands_it_over
from settings.stack_file import read as read_file
from settings.yaml_text import Place, Written

# Whose configuration says which subscription is meant, where the stack file says it.
_PROVIDERS = ("azure-native", "aks-preview")


@dataclass(frozen=True)
class StackConfiguration:
    """What a stack file says: of the stack, and of the Azure that it is for."""

    settings: Settings
    azure: Configuration
    warnings: list[str]


def read(folder: Path, stack: str) -> StackConfiguration:
    """Raises StoppedError with every mistake at once, or StackFileError where none can be told."""
    return configuration_of(read_file(stack_file(stack_files(folder), stack)), folder)


def configuration_of(file: StackFile, folder: Path) -> StackConfiguration:
    """What a stack file says; raises as `read` does."""
    project = read_project(folder)
    texts = as_the_engine_hands_it_over(project.defaults | file.config)
    refused, warnings = file.mistakes(project), list[str]()
    if not refused:
        file.require_whole()
    found = [mistake for mistake, _ in refused] + list(_hidden(file))
    try:
        settings = load(texts, warnings.append)
    except SettingsError as error:
        told = {mistake.path for mistake in found}
        found += [mistake for mistake in error.mistakes if mistake.path not in told]
    if found:
        raise _stopped(file, found, dict(refused))
    return StackConfiguration(settings, Configuration(_azure(texts), PACKAGE, SETTINGS), warnings)


def _hidden(file: StackFile) -> Iterator[Mistake]:
    """The mistake of each encrypted value that the program refuses as well."""
    prefix = f"{PROJECT}:"
    own = [path.removeprefix(prefix) for path in file.secrets if path.startswith(prefix)]
    return cannot_be_secret(own)


def _stopped(
    file: StackFile, mistakes: Iterable[Mistake], places: Mapping[Mistake, Place | None]
) -> StoppedError:
    """Every mistake with its place in the file."""
    written = [
        Written(mistake, places.get(mistake) or file.place_of_key(mistake.path))
        for mistake in mistakes
    ]
    return StoppedError(*findings_of_mistakes(written))


def _azure(texts: Mapping[str, str]) -> dict[str, str]:
    """What both providers are configured with. Raises StoppedError where they disagree."""
    native, own = (
        {name: text for name in SETTINGS if (text := texts.get(f"{provider}:{name}"))}
        for provider in _PROVIDERS
    )
    if found := list(contradictions(native, own, {})):
        raise StoppedError(
            *(Finding(Cause.STACK_FILE_INVALID, str(it), "correct the stack file") for it in found)
        )
    return native | own
