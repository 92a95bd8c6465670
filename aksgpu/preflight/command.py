"""The preflight as a command: which stack is meant, what it prints where, and its exit code."""

import json
from functools import partial
from pathlib import Path

from rich.console import Console

from aksgpu.check.progress import showing
from aksgpu.preflight import owned, stack_file
from aksgpu.preflight.access import Access, of_rehearsal
from aksgpu.preflight.asking import Owned
from aksgpu.preflight.causes import Cause
from aksgpu.preflight.preflight import Preflight, run
from aksgpu.preflight.report import render
from aksgpu.preflight.rows import About, Row
from aksgpu.preflight.stack_file import StackFile, StackFileMistakesError
from aksgpu.project import StackFileError
from aksgpu.rehearsal_stage import PROGRAM, Era, Stage, era_of, set_stage
from engine import EngineUnavailableError
from rehearsal.cloud import CloudError

_NO_REHEARSAL = (CloudError, EngineUnavailableError, StackFileError)


def preflight(stack: str, era: Era | None, *, rehearsal: bool, as_json: bool) -> int:
    """Asks Azure about a stack, or the rehearsal cloud in its place; the exit code."""
    console, messages = Console(), Console(stderr=True)
    result = Preflight(stack)
    try:
        said = stack_file.read(_folder(rehearsal=rehearsal), stack)
        for warning in said.warnings:
            messages.print(f"warning: {warning}", markup=False, highlight=False, soft_wrap=True)
        if rehearsal:
            stage = set_stage(messages.print, era or era_of(stack))
            result = examine_rehearsed(stack, said, stage, messages)
        else:
            known = partial(owned.by_state_here, Path.cwd(), stack)
            result = _examine(stack, said, Access(said.azure), known, messages)
    except StackFileMistakesError as error:
        result.rows += mistakes(error)
    except _NO_REHEARSAL as error:
        advice = "do as it says, and try again"
        result.rows.append(
            About("rehearsal").problem(Cause.REHEARSAL_UNAVAILABLE, str(error), advice)
        )
    except KeyboardInterrupt:
        advice = "run it again: what there is to know was not found out"
        what = "it was interrupted before it was done"
        result.rows.append(About("preflight").problem(Cause.INTERRUPTED, what, advice))
    if as_json:
        # As it is, however wide the terminal.
        console.out(json.dumps(result.to_json(), indent=2), highlight=False)
    else:
        render(result, console, next_step(stack, rehearsal=rehearsal))
    return result.exit_code


def examine_rehearsed(stack: str, said: StackFile, stage: Stage, messages: Console) -> Preflight:
    """Asks the rehearsal cloud about a stack."""
    known = partial(owned.by_state, stage.pulumi(), stack)
    return _examine(stack, said, of_rehearsal(stage.cloud), known, messages)


def mistakes(error: StackFileMistakesError) -> list[Row]:
    """The mistakes of a stack file as answers."""
    return [
        About("stack file").problem(Cause.STACK_FILE_INVALID, mistake, "correct the stack file")
        for mistake in error.mistakes
    ]


def next_step(stack: str, *, rehearsal: bool) -> str:
    """What to do where nothing stands against the stack."""
    if rehearsal:
        return f"make rehearse STACK={stack}"
    return f"pulumi up --stack {stack} --policy-pack policies"


def _examine(
    stack: str, said: StackFile, access: Access, known: Owned, messages: Console
) -> Preflight:
    with showing(messages, f"Asking Azure about the stack {stack} ...") as progress:
        return run(stack, said.settings, access, known, progress.update)


def _folder(*, rehearsal: bool) -> Path:
    """A rehearsal is of this program; else the project of the current folder is meant."""
    return PROGRAM if rehearsal else Path.cwd()
