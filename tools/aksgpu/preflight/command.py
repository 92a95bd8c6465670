"""The command preflight: which stack to examine, what to print, and the exit code."""

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from aks_catalogue.clusters import PLACEHOLDER
from aksgpu.outcome import INTERRUPTION, REHEARSAL, Cause, Finding
from aksgpu.preflight import owned, stack_file
from aksgpu.preflight.access import Access, of_rehearsal
from aksgpu.preflight.existing_group import provide_group
from aksgpu.preflight.preflight import Preflight, run
from aksgpu.preflight.queries import Owned
from aksgpu.preflight.report import render
from aksgpu.preflight.rows import About, Row
from aksgpu.preflight.stack_file import StackConfiguration
from aksgpu.rehearsal_stage import PROGRAM, Stage, require_name, set_stage
from aksgpu.report import FAILURES, ReportConsole, findings_of, print_json
from machine_setup.progress import Progress, to_stderr

# Runs the policy pack for a stack on the rehearsal cloud.
RunRules = Callable[[Stage, str], list[Row]]


def preflight(stack: str, rules: RunRules | None, *, as_json: bool) -> int:
    """Examines a stack with Azure, or with the rehearsal cloud and the pack; the exit code.

    `rules` runs the pack in a rehearsal. For a real stack that takes its state, its passphrase
    and Azure: `pulumi up` runs the pack in its preview.
    """
    console, result = ReportConsole(), Preflight(stack)
    try:
        if rules is not None:
            require_name(stack)
            configuration = _read(PROGRAM, stack)
            stage = set_stage(to_stderr)
            result = examine_rehearsed(stack, configuration, stage)
            result.rows += rules(stage, stack)
        else:
            configuration = _read(Path.cwd(), stack)
            read_owned = partial(owned.by_state_here, Path.cwd(), stack)
            result = _examine(stack, configuration, Access(configuration.azure), read_owned)
            result.rows.append(_rules_not_run(result))
    except FAILURES as error:
        result = stopped_preflight(stack, *findings_of(error))
    except KeyboardInterrupt:
        result = stopped_preflight(stack, INTERRUPTION)
    except Exception as error:
        # With --json, stdout stays JSON; the traceback goes to stderr.
        if not as_json:
            raise
        to_stderr(traceback.format_exc())
        what = f"{type(error).__name__}: {error}"
        result = stopped_preflight(stack, Finding(Cause.CRASHED, what, "report this as a bug"))
    if as_json:
        print_json(result.to_json(), console)
    else:
        render(result, console, _next_step(result))
    return result.exit_code


def examine_rehearsed(stack: str, configuration: StackConfiguration, stage: Stage) -> Preflight:
    """Asks the rehearsal cloud about a stack."""
    provide_group(stage.cloud, configuration.settings)
    read_owned = partial(owned.by_state, stage.pulumi(), stack)
    return _examine(stack, configuration, of_rehearsal(stage.cloud), read_owned)


def stopped_preflight(stack: str, *findings: Finding) -> Preflight:
    """A preflight that stopped before its questions, with the reasons as its answers."""
    about = About("preflight")
    rows = [about.problem(each.cause, str(each), each.advice) for each in findings]
    return Preflight(stack, rows=rows)


def _rules_not_run(result: Preflight) -> Row:
    advice = (
        f"`aksgpu review --offline --stack {result.stack}` runs it without Azure; `pulumi up "
        "--policy-pack policies` runs it before the update"
    )
    if result.cloud == REHEARSAL:
        advice = f"`aksgpu preflight --rehearsal --stack {result.stack}` runs it too"
    return About("rules").unknown("the policy pack was not run", advice, cause=None)


def _next_step(result: Preflight) -> str:
    if result.cloud == REHEARSAL:
        return f"make rehearse STACK={result.stack}"
    return f"pulumi up --stack {result.stack} --policy-pack policies"


def _read(folder: Path, stack: str) -> StackConfiguration:
    configuration = stack_file.read(folder, stack)
    for warning in configuration.warnings:
        to_stderr(f"warning: {warning}")
    return configuration


def _examine(
    stack: str, configuration: StackConfiguration, access: Access, read_owned: Owned
) -> Preflight:
    with Progress(f"Asking {access.cloud} about the stack {stack}", to_stderr) as progress:
        result = run(stack, configuration.settings, access, read_owned, progress.update)
    result.rows += placeholder_rows(configuration, is_rehearsal=access.is_rehearsal)
    return result


def placeholder_rows(configuration: StackConfiguration, *, is_rehearsal: bool) -> Iterator[Row]:
    """An answer for each placeholder: a rehearsal goes on with it, Azure would take it as it is."""
    advice = "set the ID that is meant"
    for key in configuration.placeholders:
        about, what = About("placeholder", key=key), f"{key} is still {PLACEHOLDER}"
        if is_rehearsal:
            yield about.warning(what, f"{advice} before you use Azure")
        else:
            yield about.problem(Cause.STACK_FILE_INVALID, what, advice)
