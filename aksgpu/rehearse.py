"""Rehearses a stack: the unchanged program, on the rehearsal cloud, under the policy pack."""

import shutil

from rich.console import Console
from rich.table import Table

from aksgpu.pulumi_cli import PulumiCli
from aksgpu.recovery import recover
from aksgpu.rehearsal_stage import Stage, rehearsal_home, set_stage
from rehearsal.cloud import stop as stop_cloud


def rehearse(stack: str, console: Console) -> int:
    """Brings the stack up; the exit code."""
    stage = set_stage(console.print)
    stage.project.write_stack(stack)
    _tell_stage(stage, console)
    pulumi = stage.pulumi()
    pulumi.read("stack", "select", "--create", stack)
    recover(pulumi, stack, stage.project.state, stage.cloud.subscription, console.print)
    failed = pulumi.watch(
        "up", "--yes", "--stack", stack, "--policy-pack", str(stage.project.policies)
    )
    if failed:
        console.print(
            f"\nThe update did not finish (exit code {failed}). What Azure accepted is in the "
            "state: run [bold]make rehearse[/bold] again to go on from there."
        )
        return failed
    _tell_result(stage, pulumi, stack, console)
    return 0


def rehearse_down(console: Console) -> int:
    """Destroys every stack of the rehearsal and takes all of it away; the exit code."""
    home = rehearsal_home()
    if not home.exists():
        console.print("There is no rehearsal to take away.")
        return 0
    stage = set_stage(console.print)
    pulumi = stage.pulumi()
    for stack in pulumi.read_json("stack", "ls", "--json"):
        name = stack["name"]
        recover(pulumi, name, stage.project.state, stage.cloud.subscription, console.print)
        if failed := pulumi.watch("destroy", "--yes", "--stack", name):
            console.print(f"\nThe stack {name} is not gone yet: run make rehearse-down again.")
            return failed
        pulumi.read("stack", "rm", "--yes", "--stack", name)
    stop_cloud(home)
    shutil.rmtree(home)
    console.print("The rehearsal is gone: its stacks, its cloud, its files.")
    return 0


def _tell_stage(stage: Stage, console: Console) -> None:
    console.print(f"Engine:          pulumi {stage.engine.version} ({stage.engine.origin})")
    console.print(f"Rehearsal cloud: {stage.cloud.url}")
    console.print(f"Request log:     {stage.cloud.request_log}", soft_wrap=True)


def _tell_result(stage: Stage, pulumi: PulumiCli, stack: str, console: Console) -> None:
    console.print()
    console.print(_resources(pulumi, stack))
    (update,) = pulumi.read_json("stack", "history", "--json", "--stack", stack, "--page-size", "1")
    if update["resourceChanges"].keys() == {"same"}:
        console.print("Nothing has changed: the stack was as its file says.")
    console.print(f"What was sent to Azure: {stage.cloud.request_log}", soft_wrap=True)
    console.print('Go on by hand:          eval "$(.venv/bin/aksgpu env)" && cd .rehearsal/project')
    console.print("Take it away:           make rehearse-down")


def _resources(pulumi: PulumiCli, stack: str) -> Table:
    """What Azure has of the stack now."""
    table = Table(title=f"The stack {stack}, as the rehearsal cloud has it")
    for heading in ("type", "name", "size", "nodes", "state"):
        table.add_column(heading)
    deployment = pulumi.read_json("stack", "export", "--stack", stack)["deployment"]
    for resource in deployment.get("resources", []):
        if "id" in resource and not resource["type"].startswith("pulumi:"):
            outputs = resource["outputs"]
            table.add_row(
                resource["type"].rsplit(":", 1)[-1],
                outputs["name"],
                str(outputs.get("vmSize", "")),
                str(outputs.get("count", "")),
                str(outputs.get("provisioningState", "")),
            )
    return table
