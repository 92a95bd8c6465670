"""Rehearses a stack: the unchanged program, on the rehearsal cloud, under the policy pack."""

import os
import shlex
from dataclasses import replace

import typer
from rich.console import Console
from rich.text import Text

from aksgpu.outcome import Cause, stopped
from aksgpu.preflight import stack_file
from aksgpu.preflight.command import examine_rehearsed
from aksgpu.preflight.report import render_answers, render_result
from aksgpu.rehearsal_stage import PROGRAM, Era, Stage, era_of, set_stage
from aksgpu.rehearse import shell, state, summary, there
from aksgpu.rehearse.left import is_left
from aksgpu.rehearse.planning import Plan, plan
from aksgpu.rehearse.state import State
from aksgpu.rehearse.updating import update
from aksgpu.report import finding_text, print_result
from aksgpu.stack_names import is_for_pulumi
from engine.progress import to_stderr


def rehearse(stack: str, era: Era | None, console: Console) -> int:
    """Brings the stack up; the exit code."""
    to_stderr(f"Rehearsing the stack {stack}: the rehearsal cloud takes the place of Azure.")
    _require_name(stack)
    # Mistakes in the file are reported before anything starts.
    configuration = stack_file.read(PROGRAM, stack)
    time = era_of(stack)
    named = era if era not in (None, time) else None
    stage = set_stage(to_stderr, era or time)
    stage.project.write_stack(stack)
    pulumi = stage.pulumi()
    before = state.begun(pulumi, stack)
    left = is_left(before, stage.project.state, stage.cloud.request_log)
    if left or stage.project.has_locks(stack):
        _recover(stage, stack)
        before = state.begun(pulumi, stack)
    if there.has_lost_clusters(before, stage.cloud):
        # What was on a cluster is gone with it, and cannot be asked for.
        stage = replace(stage, told={"PULUMI_K8S_DELETE_UNREACHABLE": "true"})
    planned = plan(stage, stack, refresh=True)
    if planned.is_idle:
        console.print("Nothing has changed: the stack is as its file says.")
        return _show(stage, planned, before, named, console, with_job=False)
    asked = examine_rehearsed(stack, configuration, stage)
    asked.rows += planned.rows()
    render_answers(asked, console)
    if asked.exit_code:
        console.print("Nothing was changed.")
        render_result(asked, console, "rehearse again")
        summary.print_next("Then", [_again(stack, named)], console)
        return asked.exit_code
    if failed := _bring_up(stage, planned, before, named, console):
        return failed
    # The job takes some seconds, and shows nothing new if nothing has changed.
    return _show(stage, planned, state.begun(pulumi, stack), named, console, with_job=True)


def print_ways_in(stack: str, era: Era | None) -> int:
    """Prints what a shell evaluates to work on a rehearsed stack; the exit code."""
    _require_name(stack)
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


def _require_name(stack: str) -> None:
    if not is_for_pulumi(stack):
        raise stopped(
            Cause.STACK_MISSING,
            f"Pulumi takes no stack with the name {stack[:100]!r}",
            "give the name between `Pulumi.` and `.yaml` in the stack file's name",
        )


def print_ways_out() -> int:
    for line in shell.ways_out(os.environ):
        typer.echo(line)
    return 0


def _recover(stage: Stage, stack: str) -> None:
    # It needs all types of azure-native's, and takes a while to have them.
    from aksgpu.rehearse.recovery import recover  # noqa: PLC0415

    recover(stage.pulumi(), stack, stage.project.state, stage.cloud, to_stderr)


def _bring_up(stage: Stage, planned: Plan, before: State, era: Era | None, console: Console) -> int:
    """Shows what changes, and changes it; the exit code."""
    for lost in planned.losses:
        console.print(Text(lost.message, "bold red"), soft_wrap=True)
    if planned.drift:
        console.print(Text(planned.drift, "yellow"), soft_wrap=True)
    console.print(Text(planned.in_words), soft_wrap=True)
    updated = update(stage, planned)
    for warning in updated.warnings:
        console.print(Text(f"warning: {warning}", "yellow"), soft_wrap=True)
    if not updated.cause.is_problem:
        return 0
    is_interrupted = updated.cause is Cause.INTERRUPTED
    for problem in () if is_interrupted else updated.problems:
        console.print(finding_text(problem), soft_wrap=True)
    console.print(Text(f"What pulumi printed: {updated.log}"), soft_wrap=True)
    print_result(updated.cause, console)
    step = "continue" if is_interrupted else "fix the cause, then continue"
    if state.read(stage.pulumi(), planned.stack) != before:
        step += " (the state has what Azure accepted)"
    summary.print_next(f"Next:   {step}", [_again(planned.stack, era)], console)
    return updated.cause.exit_code


def _show(
    stage: Stage, planned: Plan, now: State, era: Era | None, console: Console, *, with_job: bool
) -> int:
    kubeconfig = now.outputs.get("kubeconfig")
    shell.keep_kubeconfig(stage.project.home, planned.stack, kubeconfig)
    env = f'eval "$(.venv/bin/aksgpu env {_which(planned.stack, era)})"'
    return summary.show(stage, planned, now, env, console, with_job=with_job)


def _again(stack: str, era: Era | None) -> str:
    """The whole command that rehearses a stack; `era` is one that is not the stack's own."""
    if era is None:
        return f"make rehearse STACK={shlex.quote(stack)}"
    return f".venv/bin/aksgpu rehearse {_which(stack, era)}"


def _which(stack: str, era: Era | None) -> str:
    return shlex.join(["--stack", stack, *(["--era", era] if era else [])])
