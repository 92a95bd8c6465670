"""The command check: which cluster to check, what to print, and the exit code."""

import asyncio
import traceback
from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console

from aksgpu.check import report
from aksgpu.check.examination import CheckOptions, Examination, examine
from aksgpu.check.target import Target, of_file, of_stack
from aksgpu.outcome import INTERRUPTION, Cause, Finding, stopped
from aksgpu.rehearsal_stage import (
    is_of_others,
    pulumi_in,
    rehearsal_home,
    rehearse_line,
    rehearsed_program,
    set_stage,
)
from aksgpu.report import FAILURES, ReportConsole, findings_of, print_json
from aksgpu.running import Program
from machine_setup import ensure_engine
from machine_setup.cache import Say
from machine_setup.progress import Progress, to_stderr


def check(stack: str, kubeconfig: Path | None, options: CheckOptions, *, rehearsal: bool) -> int:
    """Checks the cluster of a kubeconfig, of a rehearsed stack, or of a stack; the exit code.

    The stack belongs to the project in the current folder.
    """
    if kubeconfig is not None:
        if rehearsal:
            raise typer.BadParameter("--kubeconfig names a cluster: omit --rehearsal.")
        return check_cluster(lambda: of_file(kubeconfig), options, ReportConsole(), to_stderr)
    pulumi = _of_rehearsal if rehearsal else _of_project
    return check_cluster(
        lambda: of_stack(pulumi(stack), stack), options, ReportConsole(), to_stderr
    )


def check_cluster(
    target: Callable[[], Target], options: CheckOptions, console: Console, say: Say
) -> int:
    """Checks a cluster, and prints the result; the exit code."""
    examination = examine_cluster(target, options, say)
    if options.json:
        print_json(report.document(examination), console)
    else:
        report.print_tables(examination, console)
    return examination.verdict.exit_code


def examine_cluster(
    target: Callable[[], Target],
    options: CheckOptions,
    say: Say,
    progress_of: Callable[[str, Say], Progress] = Progress,
) -> Examination:
    """Checks a cluster. Every failure becomes a finding."""
    examination = Examination()
    try:
        with Progress("Reading the kubeconfig", say):
            cluster = target()
        with progress_of("Checking the GPUs", say) as progress:
            asyncio.run(examine(examination, cluster, options, progress))
    except FAILURES as error:
        examination.findings += findings_of(error)
    except (KeyboardInterrupt, asyncio.CancelledError):
        examination.findings.append(INTERRUPTION)
    except Exception as error:
        # The report shows what is known so far, and JSON output stays JSON.
        say(traceback.format_exc())
        what = f"{type(error).__name__}: {error}"
        examination.findings.append(Finding(Cause.CRASHED, what, "report this as a bug"))
    return examination


def _of_project(_stack: str) -> Program:
    folder = rehearsed_program() if is_of_others() else Path.cwd()
    return pulumi_in(ensure_engine(), folder)


def _of_rehearsal(stack: str) -> Program:
    if not rehearsal_home().exists():
        raise stopped(
            Cause.CLUSTER_UNREACHABLE,
            f"the stack {stack} has not been rehearsed",
            rehearse_line(stack),
        )
    return set_stage(to_stderr).pulumi()
