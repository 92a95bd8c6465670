"""Previews a stack through Pulumi's Automation API."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pulumi.automation import (
    CommandError,
    CommandResult,
    LocalWorkspace,
    PulumiCommand,
    Stack,
    StackAlreadyExistsError,
)
from pulumi.automation.errors import create_command_error
from pulumi.automation.events import EngineEvent
from semver import VersionInfo

from aksgpu.outcome import Finding, StoppedError
from aksgpu.review.diagnosis import problems_of
from aksgpu.review.seen import Seen
from aksgpu.running import Program
from engine import Engine

# What the engine says beside whatever made it fail, a broken rule included.
_ONLY_THAT = "preview failed"


@dataclass(frozen=True)
class Place:
    """Where `pulumi` runs."""

    engine: Engine
    pulumi: Program


def preview(
    place: Place, stack: str, pack: Path, configuration: Path | None, *, refresh: bool = False
) -> tuple[Seen, list[Finding]]:
    """What a preview shows, and why it failed if it did.

    `configuration` is the stack's own of the policy pack, where it has one. With `refresh` Azure
    and the clusters are asked first what they have.
    """
    seen, events = Seen(), list[EngineEvent]()
    failure = ""
    with _unread_events() as unread:
        try:
            Stack.select(stack, _workspace(place)).preview(
                policy_packs=[str(pack)],
                policy_pack_configs=[str(configuration)] if configuration else None,
                refresh=refresh or None,
                color="never",
                # What is done with the events may fail; the API would lose the event and go on.
                on_event=events.append,
            )
        except (CommandError, RuntimeError) as error:
            failure = _told(error)
    seen.on_events(events)
    return seen, _problems(seen, failure, unread)


def _problems(seen: Seen, failure: str, unread: Sequence[str]) -> list[Finding]:
    errors = [error for error in seen.errors if error != _ONLY_THAT]
    # A mandatory rule that is broken lets the engine fail, and is told as what it is.
    if failure and not errors and not any(finding.mandatory for finding in seen.findings):
        errors = seen.errors or [failure]
    errors += [f"An event of the engine could not be read: {line}" for line in unread]
    return list(problems_of(errors))


def bring_up(place: Place, stack: str) -> None:
    """Makes a stack as its file says. Raises StoppedError with what the engine says against it."""
    seen, events = Seen(), list[EngineEvent]()
    try:
        made = Stack.create(stack, _workspace(place))
        made.up(color="never", suppress_outputs=True, on_event=events.append, show_secrets=False)
    except (CommandError, RuntimeError) as error:
        seen.on_events(events)
        raise StoppedError(*problems_of(seen.errors or [_told(error)])) from None


def create(place: Place, stack: str) -> None:
    """Makes a stack, where it is not there yet."""
    with suppress(StackAlreadyExistsError):
        Stack.create(stack, _workspace(place))


class _Command(PulumiCommand):
    """Runs this machine's engine, by the rule for all programs."""

    def __init__(self, engine: Engine) -> None:
        self.command = str(engine.pulumi)
        self.version = VersionInfo.parse(engine.version)

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,  # noqa: ARG002 (the events say more)
        on_error: Callable[[str], Any] | None = None,  # noqa: ARG002
    ) -> CommandResult:
        environment = {**additional_env, "PULUMI_AUTOMATION_API": "true"}
        program = Program((self.command, "--non-interactive"), Path(cwd), environment)
        ended = program.attempt(*args)
        result = CommandResult(stdout=ended.out, stderr=ended.err, code=ended.code)
        if result.code:
            raise create_command_error(result)
        return result


class _Workspace(LocalWorkspace):
    def select_stack(self, stack_name: str) -> None:
        """Leaves the one alone that the user has selected: every command names its own."""


def _workspace(place: Place) -> _Workspace:
    environment = {**place.pulumi.environment, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    command = _Command(place.engine)
    return _Workspace(str(place.pulumi.folder), env_vars=environment, pulumi_command=command)


def _told(error: Exception) -> str:
    """What the engine printed about a failure, of all that the API's exception has."""
    return str(error).rpartition("\n stderr: ")[2].strip() or str(error).strip()


@contextmanager
def _unread_events() -> Iterator[list[str]]:
    """What the API could not read, of which it warns and no more."""
    unread: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield unread
    unread += [
        str(warning.message).rpartition("\n")[2]
        for warning in caught
        if "event" in str(warning.message)
    ]
