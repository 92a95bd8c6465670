"""Rehearses a stack: runs the unchanged program on the rehearsal cloud, with the policy pack."""

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from threading import Thread

import typer
from rich.console import Console
from rich.text import Text

from aks_catalogue.valid_pools import OPERATOR
from aksgpu.outcome import Cause, StoppedError
from aksgpu.preflight import stack_file
from aksgpu.preflight.command import examine_rehearsed
from aksgpu.preflight.existing_group import provide_group
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.report import render_answers, render_result
from aksgpu.rehearsal_stage import (
    PROGRAM,
    Stage,
    command_line,
    given_pack,
    is_of_others,
    keep_given_pack,
    rehearsal_home,
    rehearse_line,
    rehearsed_project,
    require_name,
    set_stage,
)
from aksgpu.rehearse import shell, state
from aksgpu.rehearse.locks import locked_stacks
from aksgpu.rehearse.planning import Plan, plan
from aksgpu.rehearse.state import State
from aksgpu.rehearse.unrecorded import has_unrecorded
from aksgpu.rehearse.updating import update
from aksgpu.report import finding_text, print_next, print_result
from aksgpu.stack_names import stack_file as file_of
from aksgpu.stack_names import stacks_in
from machine_setup import ensure_helm
from machine_setup.progress import to_stderr
from rehearsal.cloud import empty, find, status_of
from rehearsal.files import log_length
from stack_settings.stack_file import read as read_stack_file


def rehearse(stack: str, console: Console, pack: Path | None = None) -> int:
    """Brings the stack up; the exit code. `pack` takes the place of the program's policy pack."""
    to_stderr(f"Rehearsing the stack {stack}: the rehearsal cloud takes the place of Azure.")
    # Importing the Kubernetes client takes a while: do it while pulumi runs.
    Thread(target=import_module, args=["aksgpu.rehearse.summary"], daemon=True).start()
    require_name(stack)
    # Mistakes in the file are reported before anything starts. Those of other teams mean something
    # to their programs alone.
    configuration = None if is_of_others() else stack_file.read(PROGRAM, stack)
    _require_stack_file(stack)
    if configuration and configuration.settings.pools_of(OPERATOR):
        ensure_helm(to_stderr)
    stage = set_stage(to_stderr, pack)
    keep_given_pack(stack, pack)
    _write_stack(stage, stack)
    pulumi = stage.pulumi()
    before = state.read_or_init(pulumi, stack)
    is_killed = before.is_unfinished or stage.project.has_locks(stack) or _unsettled(stage).exists()
    dead = status_of(stage.project.home).dead_clusters
    if is_killed or dead:
        reason = (
            "An earlier update was killed" if is_killed else f"Cluster {dead[0]} does not start"
        )
        stage = _begin_again(stage, stack, reason)
        pulumi = stage.pulumi()
        before = state.read_or_init(pulumi, stack)
    from aksgpu.rehearse import inventory  # noqa: PLC0415 (as above)

    if inventory.has_lost_clusters(before, stage.cloud):
        # Objects on a deleted cluster cannot be deleted through its API.
        stage = replace(stage, extra={**stage.extra, "PULUMI_K8S_DELETE_UNREACHABLE": "true"})
    if configuration:
        provide_group(stage.cloud, configuration.settings)
    # Other teams choose it themselves, in their Pulumi.yaml: `pulumi up` has none.
    planned = plan(stage, stack, refresh=not is_of_others())
    if planned.is_idle:
        console.print("No changes: the rehearsal matches the stack file.")
        if planned.advice:
            console.print(Text(planned.advice), soft_wrap=True)
        return _show(stage, planned, before, console, with_job=False)
    preflight = (
        examine_rehearsed(stack, configuration, stage) if configuration else Preflight(stack)
    )
    preflight.rows += planned.rows()
    if configuration or preflight.exit_code:
        render_answers(preflight, console)
    if preflight.exit_code:
        console.print("Nothing was changed.")
        render_result(preflight, console, "rehearse again")
        print_next("Then", [rehearse_line(stack)], console)
        return preflight.exit_code
    if failed := _bring_up(stage, planned, before, console):
        return failed
    # Only after changes: the job takes some seconds.
    after = state.read_or_init(pulumi, stack)
    return _show(stage, planned, after, console, with_job=True)


def print_environment(stack: str) -> int:
    """Prints the commands for a shell to work on a rehearsed stack; the exit code."""
    require_name(stack)
    _require_stack_file(stack)
    if find(rehearsal_home()) is None:
        to_stderr("The rehearsal cloud does not run: starting it.")
    stage = set_stage(to_stderr, given_pack(stack))
    _write_stack(stage, stack)
    current = state.read(stage.pulumi(), stack)
    if current is None:
        to_stderr(f"The stack has not been rehearsed yet: {rehearse_line(stack)}")
    else:
        shell.keep_kubeconfig(stage.project.home, stack, current.outputs.get("kubeconfig"))
    for line in shell.commands_to_enter(stage, stack, os.environ):
        typer.echo(line)
    shell.say_which(stage, stack, to_stderr)
    return 0


def print_earlier_environment() -> int:
    """Prints the commands that restore a shell's environment; the exit code."""
    for line in shell.commands_to_leave(os.environ):
        typer.echo(line)
    return 0


def _begin_again(stage: Stage, stack: str, reason: str) -> Stage:
    """Throws away what is half done or damaged: a rehearsal costs a minute."""
    if findings := locked_stacks(stage.project.state):
        raise StoppedError(*findings)
    to_stderr(f"{reason}: the rehearsal begins again, with an empty cloud.")
    empty(stage.project.home)
    stage.project.remove_state()
    _unsettled(stage).unlink(missing_ok=True)
    stage = set_stage(to_stderr, stage.project.other_pack)
    _write_stack(stage, stack)
    return stage


def _require_stack_file(stack: str) -> None:
    """Raises NoStackFileError if other stacks of the program have files, and this one has none."""
    folder = rehearsed_project(rehearsal_home()).stack_files
    if stacks_in(folder):
        read_stack_file(file_of(folder, stack))


def _write_stack(stage: Stage, stack: str) -> None:
    project = stage.project
    # A program without configuration needs no stack file.
    if not is_of_others() or file_of(project.stack_files, stack).exists():
        project.write_stack(stack)


def _unsettled(stage: Stage) -> Path:
    """A file that is there when a state lacks what an update has created."""
    return stage.project.home / "unsettled"


def _bring_up(stage: Stage, planned: Plan, before: State, console: Console) -> int:
    """Shows the changes, and runs the update; the exit code."""
    for lost in planned.losses:
        console.print(Text(lost.message, "bold red"), soft_wrap=True)
    if planned.drift:
        console.print(Text(planned.drift, "yellow"), soft_wrap=True)
    console.print(Text(planned.in_words), soft_wrap=True)
    log = stage.cloud.request_log
    begun = log_length(log)
    updated = update(stage, planned)
    for warning in updated.warnings:
        console.print(Text(f"warning: {warning}", "yellow"), soft_wrap=True)
    if not updated.cause.is_problem:
        return 0
    is_interrupted = updated.cause is Cause.INTERRUPTED
    for problem in () if is_interrupted else updated.problems:
        console.print(finding_text(problem), soft_wrap=True)
    console.print(Text(f"Output of pulumi: {updated.log}"), soft_wrap=True)
    print_result(updated.cause, console)
    step = "continue" if is_interrupted else "fix the cause, then continue"
    if has_unrecorded(stage.project.state, log, begun):
        _unsettled(stage).touch()
        step += " (a plug-in or the server was killed: the rehearsal begins again)"
    elif state.read(stage.pulumi(), planned.stack) != before:
        step += " (what Azure accepted is in the state)"
    print_next(f"Next:   {step}", [rehearse_line(planned.stack)], console)
    return updated.cause.exit_code


def _show(stage: Stage, planned: Plan, now: State, console: Console, *, with_job: bool) -> int:
    kubeconfig = now.outputs.get("kubeconfig")
    shell.keep_kubeconfig(stage.project.home, planned.stack, kubeconfig)
    env = f'eval "$({command_line("env", stack=planned.stack)})"'
    from aksgpu.rehearse import summary  # noqa: PLC0415 (as above)

    return summary.show(stage, planned, now, env, console, with_job=with_job)
