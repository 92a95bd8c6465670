"""Rehearses a stack: the unchanged program, on the rehearsal cloud, under the policy pack."""

import os
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import typer
from rich.console import Console
from rich.text import Text

from aksgpu.check.command import check_cluster
from aksgpu.check.examination import CheckOptions
from aksgpu.check.target import Target, of_resources
from aksgpu.outcome import Cause, Finding, StoppedError
from aksgpu.preflight import stack_file
from aksgpu.preflight.command import examine_rehearsed
from aksgpu.preflight.report import render_briefly
from aksgpu.rehearsal_stage import PROGRAM, Era, Stage, era_of, set_stage
from aksgpu.rehearse import shell, state, there
from aksgpu.rehearse.left import is_left
from aksgpu.rehearse.planning import Plan, plan
from aksgpu.rehearse.state import State
from aksgpu.report import finding_text, print_result
from aksgpu.review.automation import seen_in
from aksgpu.running import Program
from engine.progress import to_stderr


def rehearse(stack: str, era: Era | None, console: Console) -> int:
    """Brings the stack up; the exit code."""
    # What is wrong in the file is told before anything is started for it.
    configuration = stack_file.read(PROGRAM, stack)
    time = era_of(stack)
    named = era if era not in (None, time) else None
    stage = set_stage(to_stderr, era or time)
    stage.project.write_stack(stack)
    _tell_stage(stage, console)
    pulumi = stage.pulumi()
    before = state.begun(pulumi, stack)
    left = is_left(before, stage.project.state, stage.cloud.request_log)
    if left or stage.project.has_locks(stack):
        _recover(stage, stack)
        before = state.begun(pulumi, stack)
    if there.has_lost_clusters(before, stage.cloud):
        # What was on it is gone too, whoever cannot be asked.
        stage = replace(stage, told={"PULUMI_K8S_DELETE_UNREACHABLE": "true"})
    planned = plan(stage, stack, refresh=True)
    if planned.is_idle:
        console.print("Nothing has changed: the stack was as its file says.")
        return _tell_what_there_is(stage, stack, before, named, console, job=False)
    asked = examine_rehearsed(stack, configuration, stage)
    asked.rows += planned.rows()
    render_briefly(asked, console)
    if asked.exit_code:
        again = f"Nothing was changed. When it is mended: {_again(stack, named)}"
        console.print(again, soft_wrap=True)
        return asked.exit_code
    if failed := _update(stage, planned, before, named, console):
        return failed
    # The job costs some seconds, and says nothing new where nothing has changed.
    return _tell_what_there_is(stage, stack, state.begun(pulumi, stack), named, console, job=True)


def print_ways_in(stack: str, era: Era | None) -> int:
    """Prints what a shell evaluates to work on a rehearsed stack; the exit code."""
    time = era or era_of(stack)
    shell.say_which(stack, time, to_stderr)
    stage = set_stage(to_stderr, time)
    stage.project.write_stack(stack)
    there_is = state.read(stage.pulumi(), stack)
    if there_is is None:
        to_stderr(f"It has not been rehearsed yet: {_again(stack, era)}")
    else:
        shell.keep_kubeconfig(stage.project.home, stack, there_is.outputs.get("kubeconfig"))
    for line in shell.ways_in(stage, stack, os.environ):
        typer.echo(line)
    return 0


def print_ways_out() -> int:
    for line in shell.ways_out(os.environ):
        typer.echo(line)
    return 0


def _recover(stage: Stage, stack: str) -> None:
    # It needs all types of azure-native's, and takes a while to have them.
    from aksgpu.rehearse.recovery import recover  # noqa: PLC0415

    recover(stage.pulumi(), stack, stage.project.state, stage.cloud, to_stderr)


def _watched(pulumi: Program, arguments: Sequence[str]) -> Cause:
    """What becomes of pulumi, which is run before the user's eyes."""
    try:
        return Cause.UPDATE_FAILED if pulumi.watch(*arguments) else Cause.FINE
    except KeyboardInterrupt:
        return Cause.INTERRUPTED


def _tell_stage(stage: Stage, console: Console) -> None:
    console.print(f"Engine:          pulumi {stage.engine.version} ({stage.engine.origin})")
    console.print(f"Rehearsal cloud: {stage.cloud.url}")
    console.print(f"Request log:     {stage.cloud.request_log}", soft_wrap=True)


def _update(stage: Stage, planned: Plan, before: State, era: Era | None, console: Console) -> int:
    """Says what goes, and does what was planned; the exit code."""
    for lost in planned.losses:
        console.print(Text(lost.message, "bold red"), soft_wrap=True)
    if planned.drift:
        console.print(Text(planned.drift, "yellow"), soft_wrap=True)
    stack, again = planned.stack, _again(planned.stack, era)
    configuration = stage.project.configuration_of_the_pack(stack)
    with TemporaryDirectory() as folder:
        log = Path(folder) / "events.jsonl"
        pulumi = stage.pulumi()
        # The engine takes the option from those alone who look for faults.
        telling = replace(
            pulumi, environment={**pulumi.environment, "PULUMI_DEBUG_COMMANDS": "true"}
        )
        # Nothing is said of what is not known yet, and nothing twice: the preview was this one's.
        up = ["up", "--yes", "--skip-preview", "--suppress-outputs", "--stack", stack]
        up += ["--policy-pack", str(stage.project.pack), "--event-log", str(log)]
        up += ["--policy-pack-config", str(configuration)] if configuration else []
        up += ["--refresh"] if planned.seen.drift else []
        cause = _watched(telling, up)
        if not cause.is_problem:
            return 0
        told = Plan(stack, seen_in(log))
    for row in told.rows() if told.refusals else ():
        said = Finding(row.cause or cause, row.what, row.advice, pool=row.pool)
        console.print(finding_text(said), soft_wrap=True)
    left = f"When it is mended: {again}"
    if state.read(pulumi, stack) != before:
        left = f"What Azure accepted is in the state. To go on from there: {again}"
    console.print(f"\nThe update did not finish. {left}", soft_wrap=True)
    print_result(cause, console)
    return cause.exit_code


def _tell_what_there_is(
    stage: Stage, stack: str, now: State, era: Era | None, console: Console, *, job: bool
) -> int:
    """Shows what there is, checks the cluster, and says how to go on; the check's exit code."""
    pulumi = stage.pulumi()
    shell.keep_kubeconfig(stage.project.home, stack, now.outputs.get("kubeconfig"))

    def target() -> Target:
        return of_resources(now.resources, pulumi, stack)

    try:
        kubeconfig = target().kubeconfig
    except StoppedError:
        kubeconfig = None
    rows = there.resources(now, stage.cloud, kubeconfig, pulumi.environment)
    console.print(there.as_table(stack, rows))
    verdict = check_cluster(target, CheckOptions(job=job), console, to_stderr)
    console.print(f"What was sent to Azure: {stage.cloud.request_log}", soft_wrap=True)
    evaluated = f'eval "$(.venv/bin/aksgpu env {_which(stack, era)})"'
    console.print(f"Go on by hand:          {evaluated}", soft_wrap=True)
    console.print("Take it away:           make rehearse-down")
    return verdict


def _again(stack: str, era: Era | None) -> str:
    """The whole command that rehearses a stack; `era` is one that is not the stack's own."""
    if era is None:
        return f"make rehearse STACK={shlex.quote(stack)}"
    return f".venv/bin/aksgpu rehearse {_which(stack, era)}"


def _which(stack: str, era: Era | None) -> str:
    return shlex.join(["--stack", stack, *(["--era", era] if era else [])])
