"""The check as a command: what it is given, what it prints where, and its exit code."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

from rich.console import Console

from aksgpu.check import report
from aksgpu.check.causes import Cause, CheckError, Finding
from aksgpu.check.examination import Examination, Wishes, examine
from aksgpu.check.progress import showing
from aksgpu.check.target import Target, of_file, of_stack
from aksgpu.pulumi_cli import PulumiCli


def check_stack(
    pulumi: PulumiCli, stack: str, wishes: Wishes, console: Console, messages: Console
) -> int:
    """Checks the cluster of a stack that this `pulumi` reads; the exit code."""
    return _check(lambda: of_stack(pulumi, stack), wishes, console, messages)


def check_kubeconfig(file: Path, wishes: Wishes, console: Console, messages: Console) -> int:
    """Checks the cluster of a kubeconfig; the exit code."""
    return _check(lambda: of_file(file), wishes, console, messages)


def tell_failure(error: CheckError, wishes: Wishes, console: Console) -> int:
    """For what goes wrong before there is anything to check; the exit code."""
    return _tell(Examination(findings=[error.finding]), wishes, console)


def _check(
    target: Callable[[], Target], wishes: Wishes, console: Console, messages: Console
) -> int:
    examination = Examination()
    try:
        with showing(messages, "Reading where the cluster is ..."):
            found = target()
        with showing(messages, "Looking at the cluster ...") as progress:
            asyncio.run(examine(examination, found, wishes, progress))
    except CheckError as error:
        examination.findings.append(error.finding)
    except (KeyboardInterrupt, asyncio.CancelledError):
        what = "the check was interrupted before it was done"
        advice = "run it again: what there is to know was not found out"
        examination.findings.append(Finding(cause=Cause.INTERRUPTED, what=what, advice=advice))
    return _tell(examination, wishes, console)


def _tell(examination: Examination, wishes: Wishes, console: Console) -> int:
    if wishes.json:
        # As it is, however wide the terminal.
        console.out(json.dumps(report.document(examination), indent=2), highlight=False)
    else:
        report.print_tables(examination, console)
    return examination.verdict.exit_code
