"""Removes the rehearsal: its stacks through Pulumi, then server, clusters and files."""

from contextlib import suppress
from pathlib import Path

import yaml
from rich.console import Console

from aksgpu.outcome import Cause, Finding, verdict
from aksgpu.project import Project
from aksgpu.rehearsal_stage import Stage, rehearsal_home, rehearsed_project
from aksgpu.rehearse import state
from aksgpu.rehearse.locks import locked_stacks
from aksgpu.rehearse.stacks import stacks_of
from aksgpu.report import finding_text, findings_of, print_result
from aksgpu.running import Program, ProgramError
from machine_setup import ensure_engine, ensure_kubernetes
from machine_setup.progress import Progress, to_stderr
from rehearsal.arm.home import Home
from rehearsal.cloud import CloudError, going_of, remove
from rehearsal.cloud import start as start_cloud

# Longer than any stack takes, unless something hangs.
_SECONDS = 900.0
_LINES = 6
# The group of a resource may be on its way out when the first one asks to delete the resource.
_ATTEMPTS = 2
_ADVICE = "it is removed with the rehearsal; on Azure its resources would remain"


def rehearse_down(console: Console) -> int:
    """Destroys every stack of the rehearsal and removes the rehearsal; the exit code."""
    existed = bool(_folders())
    findings = _remove(console)
    for finding in findings:
        console.print(finding_text(finding), soft_wrap=True)
    if remaining := _folders():
        console.print(f"Not removed: {', '.join(remaining)}.", soft_wrap=True)
    elif existed:
        console.print("The rehearsal is removed: its stacks, its cloud, its files.")
    else:
        console.print("There is no rehearsal to remove.")
    if findings:
        cause = verdict(finding.cause for finding in findings)
        print_result(cause, console)
        return cause.exit_code
    return 0


def _folders() -> list[str]:
    """The folders of the rehearsal, also of one whose removal was interrupted."""
    home = rehearsal_home()
    return [str(folder) for folder in (home, going_of(home)) if folder.exists()]


def _remove(console: Console) -> list[Finding]:
    """Removes a rehearsal unless an update of a stack is running; the failures."""
    home = rehearsal_home()
    if locked := locked_stacks(rehearsed_project(home).state):
        return locked
    findings = _destroy_all(console) if home.exists() else []
    try:
        # Also removes what an interrupted removal left.
        remove(home)
    except CloudError as error:
        findings += findings_of(error)
    return findings


def _destroy_all(console: Console) -> list[Finding]:
    """Destroys the stacks of a rehearsal, continuing after failures; the failures."""
    home, findings = rehearsal_home(), []
    stacks = stacks_of(home)
    if not stacks:
        return []
    try:
        pulumi, stage = _set_stage(home)
    except Exception as error:
        return [_not_destroyed(", ".join(stacks), error)]
    # Stacks of other projects first: they may need the clusters of this program's stacks.
    for stack in sorted(stacks, key=lambda stack: "/" not in stack):
        project, _, name = stack.rpartition("/")
        try:
            with Progress(f"Destroying the stack {stack}", to_stderr):
                inside = _in_project(pulumi, project) if project else pulumi
                became = _destroy(inside, name, stage.project)
        except Exception as error:
            findings.append(_not_destroyed(stack, error))
        else:
            console.print(f"The stack {stack} {became}.")
    return findings


def _set_stage(home: Path) -> tuple[Program, Stage]:
    engine = ensure_engine(to_stderr)
    kubernetes = ensure_kubernetes(to_stderr)
    # Injected faults must not affect the removal.
    Home(home).faults.unlink(missing_ok=True)
    cloud = start_cloud(home, kubernetes=kubernetes.folder, say=to_stderr)
    project = rehearsed_project(home)
    # Destroying uses the state: an invalid stack file does not matter.
    with suppress(Exception):
        project.write()
    stage = Stage(engine, cloud, project)
    pulumi = stage.pulumi()
    # Kubernetes objects go with their cluster, even if it does not answer.
    environment = {**pulumi.environment, "PULUMI_K8S_DELETE_UNREACHABLE": "true"}
    return Program(pulumi.command, pulumi.folder, environment), stage


def _in_project(pulumi: Program, name: str) -> Program:
    """Pulumi in a project of another name with the same plug-ins, which is enough to destroy."""
    folder = pulumi.folder.parent / "other-projects" / name
    folder.mkdir(parents=True, exist_ok=True)
    content = yaml.safe_load((pulumi.folder / "Pulumi.yaml").read_text())
    project = {"name": name, "runtime": content["runtime"], "plugins": content["plugins"]}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    environment = {**pulumi.environment, "PULUMI_OPTION_CWD": str(folder)}
    return Program(pulumi.command, folder, environment)


def _destroy(pulumi: Program, stack: str, project: Project) -> str:
    """Destroys a stack; what has become of it."""
    if project.has_locks(stack) or state.read_or_init(pulumi, stack).is_unfinished:
        return "goes with the rehearsal: an update of it was killed"
    # Removing a rehearsal removes protected resources too.
    destroy = ("destroy", "--yes", "--skip-preview", "--ignore-protect", "--stack", stack)
    for _ in range(_ATTEMPTS):
        process = pulumi.attempt(*destroy, seconds=_SECONDS)
        if not process.code:
            return "is destroyed"
    lines = [line.strip() for line in (process.out + process.err).splitlines() if line.strip()]
    errors = [line for line in lines if "error:" in line] or lines
    raise ProgramError("; ".join(errors[-_LINES:]))


def _not_destroyed(stacks: str, error: Exception) -> Finding:
    what = f"{stacks}: Pulumi could not destroy it: {str(error) or repr(error)}"
    return Finding(Cause.UPDATE_FAILED, what, _ADVICE)
