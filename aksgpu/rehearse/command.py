"""Rehearses a stack: the unchanged program, on the rehearsal cloud, under the policy pack."""

import shutil
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from aksgpu.check.command import check_stack
from aksgpu.check.examination import Wishes
from aksgpu.preflight import stack_file
from aksgpu.preflight.command import examine_rehearsed, mistakes
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.report import render
from aksgpu.preflight.stack_file import StackFileMistakesError
from aksgpu.pulumi_cli import PulumiCli
from aksgpu.rehearsal_stage import ERAS, PROGRAM, Era, Stage, era_of, rehearsal_home, set_stage
from aksgpu.rehearse.recovery import recover
from rehearsal.cloud import stop as stop_cloud


def rehearse(stack: str, era: Era | None, console: Console) -> int:
    """Brings the stack up; the exit code."""
    stage = set_stage(console.print, era or era_of(stack))
    stage.project.write_stack(stack)
    _tell_stage(stage, console)
    pulumi = stage.pulumi()
    pulumi.read("stack", "select", "--create", stack)
    recover(pulumi, stack, stage.project.state, stage.cloud.subscription, console.print)
    if refused := _preflight(stage, stack, console):
        return refused
    failed = pulumi.watch("up", "--yes", "--stack", stack, *stage.project.guarded(stack))
    if failed:
        console.print(
            f"\nThe update did not finish (exit code {failed}). What Azure accepted is in the "
            "state: run [bold]make rehearse[/bold] again to go on from there."
        )
        return failed
    changed = _tell_result(pulumi, stack, console)
    # The job costs some seconds, and says nothing new where nothing has changed.
    verdict = check_stack(pulumi, stack, Wishes(job=changed), console, Console(stderr=True))
    _tell_way_on(stage, stack, console)
    return verdict


def _preflight(stage: Stage, stack: str, console: Console) -> int:
    """Asks whether the cloud would take the stack; the exit code."""
    try:
        said = stack_file.read(PROGRAM, stack)
        asked = examine_rehearsed(stack, said, stage, Console(stderr=True))
    except StackFileMistakesError as error:
        asked = Preflight(stack, rows=mistakes(error))
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
    stage = set_stage(console.print, era)
    pulumi = stage.pulumi()
    for stack in pulumi.read_json("stack", "ls", "--json"):
        name = stack["name"]
        recover(pulumi, name, stage.project.state, stage.cloud.subscription, console.print)
        if failed := pulumi.watch("destroy", "--yes", "--stack", name):
            console.print(f"\nThe stack {name} is not gone yet: run make rehearse-down again.")
            return failed
        pulumi.read("stack", "rm", "--yes", "--stack", name)
    stop_cloud(stage.cloud.home)
    shutil.rmtree(stage.cloud.home)
    console.print("The rehearsal is gone: its stacks, its cloud, its files.")
    return 0


def _tell_stage(stage: Stage, console: Console) -> None:
    console.print(f"Engine:          pulumi {stage.engine.version} ({stage.engine.origin})")
    console.print(f"Rehearsal cloud: {stage.cloud.url}")
    console.print(f"Request log:     {stage.cloud.request_log}", soft_wrap=True)


def _tell_result(pulumi: PulumiCli, stack: str, console: Console) -> bool:
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


def _resources(pulumi: PulumiCli, stack: str) -> Table:
    """What the cloud and the cluster have of the stack now."""
    table = Table(title=f"The stack {stack}, as the rehearsal cloud has it")
    for heading in ("type", "name", "size", "nodes", "state"):
        table.add_column(heading)
    deployment = pulumi.read_json("stack", "export", "--stack", stack)["deployment"]
    for resource in deployment.get("resources", []):
        if "id" in resource and not resource["type"].startswith("pulumi:"):
            outputs = resource["outputs"]
            metadata = outputs.get("metadata") or {}
            table.add_row(
                resource["type"].rsplit(":", 1)[-1],
                outputs.get("name") or metadata.get("name") or outputs.get("featureName"),
                outputs.get("vmSize", ""),
                _nodes(outputs),
                outputs.get("provisioningState") or outputs.get("state") or "",
            )
    return table


def _nodes(outputs: Mapping[str, Any]) -> str:
    if outputs.get("enableAutoScaling"):
        return f"{outputs['minCount']} to {outputs['maxCount']}"
    return str(outputs.get("count", ""))
