"""Previews a stack through Pulumi's Automation API."""

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
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
from aksgpu.review.preview_result import PreviewResult
from aksgpu.running import Program
from machine_setup import Engine

# The engine prints this after any other error, and after a violation of a mandatory rule.
_PREVIEW_FAILED = "preview failed"


@dataclass(frozen=True)
class Place:
    """Where `pulumi` runs."""

    engine: Engine
    pulumi: Program


def preview(
    place: Place,
    stack: str,
    pack: Path | None,
    configuration: Path | None,
    *,
    refresh: bool = False,
) -> tuple[PreviewResult, list[Finding]]:
    """Runs a preview; its result, and why it failed if it did.

    `configuration` is the stack's configuration of the policy pack, if it has one. `refresh`
    reads the actual state from Azure and the clusters first.
    """
    seen, events = PreviewResult(), list[EngineEvent]()
    failure = ""
    with _unread_events() as unread:
        try:
            Stack.select(stack, _workspace(place)).preview(
                policy_packs=[str(pack)] if pack else None,
                policy_pack_configs=[str(configuration)] if configuration else None,
                refresh=refresh or None,
                color="never",
                # Only collected here: the API swallows errors of this callback.
                on_event=events.append,
            )
        except (CommandError, RuntimeError) as error:
            failure = _stderr_of(error)
    seen.on_events(events)
    return seen, _problems(seen, failure, unread)


def _problems(seen: PreviewResult, failure: str, unread: Sequence[str]) -> list[Finding]:
    errors = [error for error in seen.errors if error != _PREVIEW_FAILED]
    # A violation of a mandatory rule makes the engine fail; it is reported as a finding.
    if failure and not errors and not any(finding.mandatory for finding in seen.findings):
        errors = seen.errors or [failure]
    errors += [f"An event of the engine could not be read: {line}" for line in unread]
    return list(problems_of(errors))


def run(place: Place, stack: str, operation: str, **options: Any) -> None:
    """Runs `up`, `refresh` or `destroy`. Raises StoppedError with the engine's errors."""
    seen, events = PreviewResult(), list[EngineEvent]()
    fixed = {"color": "never", "suppress_outputs": True, "show_secrets": False}
    try:
        selected = Stack.select(stack, _workspace(place))
        getattr(selected, operation)(on_event=events.append, **fixed, **options)
    except (CommandError, RuntimeError) as error:
        seen.on_events(events)
        raise StoppedError(*problems_of(seen.errors or [_stderr_of(error)])) from None


def create(place: Place, stack: str) -> None:
    """Creates a stack if it does not exist. Raises StoppedError with the engine's errors."""
    try:
        Stack.create(stack, _workspace(place))
    except StackAlreadyExistsError:
        pass
    except (CommandError, RuntimeError) as error:
        raise StoppedError(*problems_of([_stderr_of(error)])) from None


class _Command(PulumiCommand):
    """Runs this machine's engine as a Program."""

    def __init__(self, engine: Engine) -> None:
        self.command = str(engine.pulumi)
        self.version = VersionInfo.parse(engine.version)

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: Callable[[str], Any] | None = None,  # noqa: ARG002 (events have the details)
        on_error: Callable[[str], Any] | None = None,  # noqa: ARG002
    ) -> CommandResult:
        environment = {**additional_env, "PULUMI_AUTOMATION_API": "true"}
        program = Program((self.command, "--non-interactive"), Path(cwd), environment)
        process = program.attempt(*args)
        result = CommandResult(stdout=process.out, stderr=process.err, code=process.code)
        if result.code:
            raise create_command_error(result)
        return result


class _Workspace(LocalWorkspace):
    def select_stack(self, stack_name: str) -> None:
        """Does not change the user's selected stack: every command names its stack."""


def _workspace(place: Place) -> _Workspace:
    environment = {**place.pulumi.environment, "PULUMI_SKIP_UPDATE_CHECK": "true"}
    command = _Command(place.engine)
    return _Workspace(str(place.pulumi.folder), env_vars=environment, pulumi_command=command)


def _stderr_of(error: Exception) -> str:
    """What the engine printed to stderr, from the message of the API's exception."""
    return str(error).rpartition("\n stderr: ")[2].strip() or str(error).strip()


@contextmanager
def _unread_events() -> Iterator[list[str]]:
    """Collects the events that the API could not read: it only warns about them."""
    unread: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield unread
    unread += [
        str(warning.message).rpartition("\n")[2]
        for warning in caught
        if "event" in str(warning.message)
    ]
