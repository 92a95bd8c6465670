"""Takes rehearsals away: their stacks through Pulumi, then all the rest, whatever its state."""

from contextlib import suppress
from pathlib import Path

import yaml
from rich.console import Console

from aksgpu.outcome import Cause, Finding, verdict
from aksgpu.project import Project
from aksgpu.rehearsal_stage import ERAS, PROGRAM, Era, Stage, rehearsal_home
from aksgpu.rehearse.locks import holders_of
from aksgpu.rehearse.recovery import recover
from aksgpu.rehearse.stacks import stacks_of
from aksgpu.report import finding_text, findings_of, print_result
from aksgpu.running import Program, ProgramError
from engine import ensure_engine, ensure_kubernetes
from engine.progress import Progress, to_stderr
from rehearsal.arm.home import Home
from rehearsal.cloud import CloudError, remove
from rehearsal.cloud import start as start_cloud

# No stack takes so long, unless something is stuck for good.
_SECONDS = 900.0
_LINES = 6
_ADVICE = "nothing of it is left here; on Azure its resources would still be there"


def rehearse_down(console: Console) -> int:
    """Destroys every stack of the rehearsals and takes all of them away; the exit code."""
    there = [era for era in ERAS if rehearsal_home(era).exists()]
    left = [finding for era in ERAS for finding in _take_away(era, console)]
    for finding in left:
        console.print(finding_text(finding), soft_wrap=True)
    if stays := [str(rehearsal_home(era)) for era in ERAS if rehearsal_home(era).exists()]:
        console.print(f"Still there: {', '.join(stays)}.", soft_wrap=True)
    elif there:
        console.print("The rehearsal is gone: its stacks, its cloud, its files.")
    else:
        console.print("There is no rehearsal to take away.")
    if left:
        cause = verdict(finding.cause for finding in left)
        print_result(cause, console)
        return cause.exit_code
    return 0


def _take_away(era: Era, console: Console) -> list[Finding]:
    """Takes a rehearsal away, unless an update is at work in it; what went wrong."""
    home = rehearsal_home(era)
    if holders := holders_of(Project(PROGRAM, home).state):
        return [_is_at_work(home, lock, holder) for lock, holder in holders.items()]
    left = _destroy_all(era, console) if home.exists() else []
    try:
        # What an earlier removal has left goes too.
        remove(home)
    except CloudError as error:
        left += findings_of(error)
    return left


def _is_at_work(home: Path, lock: Path, holder: str) -> Finding:
    what = f"Nothing in {home} was removed: the stack {lock.parent.name} is locked by {holder}"
    advice = f"wait for its end, or end it there with Ctrl-C; if it is dead, remove {lock}"
    return Finding(Cause.UPDATE_FAILED, what, advice)


def _destroy_all(era: Era, console: Console) -> list[Finding]:
    """Destroys the stacks of a rehearsal; why some could not be, is no reason to stop."""
    home, left = rehearsal_home(era), []
    stacks = stacks_of(home)
    if not stacks:
        return []
    try:
        pulumi, stage = _set_stage(era, home)
    except Exception as error:
        return [_not_destroyed(", ".join(stacks), error)]
    # Those of other projects first: they may need the clusters of the program's own stacks.
    for stack in sorted(stacks, key=lambda stack: "/" not in stack):
        project, _, name = stack.rpartition("/")
        try:
            with Progress(f"Destroying the stack {stack}", to_stderr):
                _destroy(_in_project(pulumi, project) if project else pulumi, name, stage)
        except Exception as error:
            left.append(_not_destroyed(stack, error))
        else:
            console.print(f"The stack {stack} is destroyed.")
    return left


def _set_stage(era: Era, home: Path) -> tuple[Program, Stage]:
    engine = ensure_engine(to_stderr)
    kubernetes = ensure_kubernetes(to_stderr)
    # What was to go wrong is not to go wrong with this.
    Home(home).faults.unlink(missing_ok=True)
    cloud = start_cloud(home, era=era, kubernetes=kubernetes.folder, say=to_stderr)
    project = Project(PROGRAM, home)
    # A stack file that is not valid any more does not matter to what is in the state.
    with suppress(Exception):
        project.write()
    stage = Stage(engine, cloud, project)
    pulumi = stage.pulumi()
    # What was on a cluster goes with the cluster.
    environment = {**pulumi.environment, "PULUMI_K8S_DELETE_UNREACHABLE": "true"}
    return Program(pulumi.command, pulumi.folder, environment), stage


def _in_project(pulumi: Program, name: str) -> Program:
    """Pulumi in a project of another name, with the same plug-ins: that is enough to destroy."""
    folder = pulumi.folder.parent / "other-projects" / name
    folder.mkdir(parents=True, exist_ok=True)
    content = yaml.safe_load((pulumi.folder / "Pulumi.yaml").read_text())
    project = {"name": name, "runtime": content["runtime"], "plugins": content["plugins"]}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
    environment = {**pulumi.environment, "PULUMI_OPTION_CWD": str(folder)}
    return Program(pulumi.command, folder, environment)


def _destroy(pulumi: Program, stack: str, stage: Stage) -> None:
    recover(pulumi, stack, stage.project.state, stage.cloud, to_stderr)
    # What a stack protects is protected from mistakes, not from being taken away.
    destroy = ("destroy", "--yes", "--skip-preview", "--ignore-protect", "--stack", stack)
    ended = pulumi.attempt(*destroy, seconds=_SECONDS)
    if ended.code:
        lines = [line.strip() for line in (ended.out + ended.err).splitlines() if line.strip()]
        wrong = [line for line in lines if "error:" in line] or lines
        raise ProgramError("; ".join(wrong[-_LINES:]))


def _not_destroyed(stacks: str, error: Exception) -> Finding:
    what = f"{stacks}: not destroyed through Pulumi: {str(error) or repr(error)}"
    return Finding(Cause.UPDATE_FAILED, what, _ADVICE)
