"""Which cluster the command line means."""

import os
from pathlib import Path

import typer
from rich.console import Console

from aksgpu.check.causes import Cause, CheckError
from aksgpu.check.command import check_kubeconfig, check_stack, tell_failure
from aksgpu.check.examination import Wishes
from aksgpu.project import StackFileError
from aksgpu.pulumi_cli import PulumiCli
from aksgpu.rehearsal_stage import Era, era_of, rehearsal_home, set_stage
from engine import EngineUnavailableError, ensure_engine
from engine.cache import Say
from rehearsal.cloud import CloudError

# What each of these says is what there is to do.
_FAILURES = (CloudError, EngineUnavailableError, StackFileError)


def check(
    stack: str, era: Era | None, kubeconfig: Path | None, wishes: Wishes, *, rehearsal: bool
) -> int:
    """Checks what is meant: a file's cluster, the rehearsed stack, or the real one.

    The real one is that of the project in the current folder.
    """
    console, messages = Console(), Console(stderr=True)
    if kubeconfig is not None:
        if rehearsal:
            raise typer.BadParameter("--kubeconfig names a cluster: leave --rehearsal out.")
        return check_kubeconfig(kubeconfig, wishes, console, messages)
    try:
        pulumi = _of_rehearsal(stack, era, messages.print) if rehearsal else _real(messages.print)
    except CheckError as error:
        return tell_failure(error, wishes, console)
    except _FAILURES as error:
        failure = CheckError(Cause.STACK_UNREADABLE, str(error), "do as it says, and try again")
        return tell_failure(failure, wishes, console)
    return check_stack(pulumi, stack, wishes, console, messages)


def _real(say: Say) -> PulumiCli:
    engine = ensure_engine(say)
    path = engine.on_path(os.environ.get("PATH", os.defpath))
    return PulumiCli(engine.pulumi, Path.cwd(), {**os.environ, "PATH": path})


def _of_rehearsal(stack: str, era: Era | None, say: Say) -> PulumiCli:
    time = era or era_of(stack)
    if not rehearsal_home(time).exists():
        raise CheckError(
            Cause.STACK_UNREADABLE,
            f"the stack {stack} has not been rehearsed",
            f"make rehearse STACK={stack}",
        )
    return set_stage(say, time).pulumi()
