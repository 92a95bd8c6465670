"""Rehearses a stack: the unchanged program, on the rehearsal cloud, under the policy pack."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from aksgpu.check.command import check_cluster
from aksgpu.check.examination import CheckOptions
from aksgpu.check.target import of_stack
from aksgpu.outcome import Cause
from aksgpu.preflight import stack_file
from aksgpu.preflight.command import examine_rehearsed, stopped_preflight
from aksgpu.preflight.report import render
from aksgpu.rehearsal_stage import ERAS, PROGRAM, Era, Stage, era_of, rehearsal_home, set_stage
from aksgpu.rehearse.recovery import recover
from aksgpu.report import FAILURES, findings_of, print_result, table
from aksgpu.running import Program
from engine.progress import to_stderr
from rehearsal.cloud import remove


def rehearse(stack: str, era: Era | None, console: Console) -> int:
    """Brings the stack up; the exit code."""
    stage = set_stage(to_stderr, era or era_of(stack))
    stage.project.write_stack(stack)
    _tell_stage(stage, console)
    pulumi = stage.pulumi()
    pulumi.read("stack", "select", "--create", stack)
    recover(pulumi, stack, stage.project.state, stage.cloud.subscription, to_stderr)
    if refused := _preflight(stage, stack, console):
        return refused
    left = (
        "The update did not finish. What Azure accepted is in the state: run make rehearse again "
        "to go on from there."
    )
    up = ("up", "--yes", "--stack", stack, *stage.project.guarded(stack))
    if failed := _watch(pulumi, console, left, *up):
        return failed
    changed = _tell_result(pulumi, stack, console)
    # The job costs some seconds, and says nothing new where nothing has changed.
    options = CheckOptions(job=changed)
    verdict = check_cluster(lambda: of_stack(pulumi, stack), options, console, to_stderr)
    _tell_way_on(stage, stack, console)
    return verdict


def _preflight(stage: Stage, stack: str, console: Console) -> int:
    """Asks whether the cloud would take the stack; the exit code."""
    try:
        configuration = stack_file.read(PROGRAM, stack)
        asked = examine_rehearsed(stack, configuration, stage)
    except FAILURES as error:
        asked = stopped_preflight(stack, *findings_of(error))
    render(asked, console, "pulumi up, which begins now")
    return asked.exit_code


def rehearse_down(console: Console) -> int:
    """Destroys every stack of the rehearsals and takes all of them away; the exit code."""
    there = [era for era in ERAS if rehearsal_home(era).exists()]
    if not there:
        console.print("There is no rehearsal to take away.")
    for era in there:
        if failed := _take_away(era, console):
            return failed
    return 0


def _take_away(era: Era, console: Console) -> int:
    stage = set_stage(to_stderr, era)
    pulumi = stage.pulumi()
    for stack in pulumi.read_json("stack", "ls", "--json"):
        name = stack["name"]
        recover(pulumi, name, stage.project.state, stage.cloud.subscription, to_stderr)
        left = f"The stack {name} is not gone yet: run make rehearse-down again."
        # What a stack protects is protected from mistakes, not from being taken away.
        destroy = ("destroy", "--yes", "--ignore-protect", "--stack", name)
        if failed := _watch(pulumi, console, left, *destroy):
            return failed
        pulumi.read("stack", "rm", "--yes", "--stack", name)
    remove(stage.cloud.home)
    console.print("The rehearsal is gone: its stacks, its cloud, its files.")
    return 0


def _watch(pulumi: Program, console: Console, left: str, *arguments: str) -> int:
    """Runs pulumi before the user's eyes, and says what is left where it fails; the exit code."""
    cause = Cause.FINE
    try:
        if pulumi.watch(*arguments):
            cause = Cause.UPDATE_FAILED
    except KeyboardInterrupt:
        cause = Cause.INTERRUPTED
    if cause.is_problem:
        console.print(f"\n{left}", soft_wrap=True)
        print_result(cause, console)
    return cause.exit_code


def _tell_stage(stage: Stage, console: Console) -> None:
    console.print(f"Engine:          pulumi {stage.engine.version} ({stage.engine.origin})")
    console.print(f"Rehearsal cloud: {stage.cloud.url}")
    console.print(f"Request log:     {stage.cloud.request_log}", soft_wrap=True)


def _tell_result(pulumi: Program, stack: str, console: Console) -> bool:
    """Shows what there is now; whether the update has changed anything."""
    console.print()
    console.print(_resources(pulumi, stack))
    (update,) = pulumi.read_json("stack", "history", "--json", "--stack", stack, "--page-size", "1")
    changed = set(update["resourceChanges"]) != {"same"}
    if not changed:
        console.print("Nothing has changed: the stack was as its file says.")
    return changed


def _tell_way_on(stage: Stage, stack: str, console: Console) -> None:
    console.print(f"What was sent to Azure: {stage.cloud.request_log}", soft_wrap=True)
    evaluated = f'eval "$(.venv/bin/aksgpu env --stack {stack})"'
    console.print(
        f"Go on by hand:          {evaluated} && cd {stage.project.folder}", soft_wrap=True
    )
    console.print("Take it away:           make rehearse-down")


def _resources(pulumi: Program, stack: str) -> Table:
    """What the cloud and the cluster have of the stack now."""
    title = f"The stack {stack}, as the rehearsal cloud has it"
    shown = table("type", "name", "size", "nodes", "state", title=title)
    deployment = pulumi.read_json("stack", "export", "--stack", stack)["deployment"]
    for resource in deployment.get("resources", []):
        if "id" in resource and not resource["type"].startswith("pulumi:"):
            outputs = resource["outputs"]
            metadata = outputs.get("metadata") or {}
            shown.add_row(
                resource["type"].rsplit(":", 1)[-1],
                outputs.get("name") or metadata.get("name") or outputs.get("featureName"),
                outputs.get("vmSize", ""),
                _nodes(outputs),
                outputs.get("provisioningState") or outputs.get("state") or "",
            )
    return shown


def _nodes(outputs: Mapping[str, Any]) -> str:
    if outputs.get("enableAutoScaling"):
        return f"{outputs['minCount']} to {outputs['maxCount']}"
    return str(outputs.get("count", ""))
