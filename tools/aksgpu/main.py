"""The command line of `aksgpu`. Each command loads what it needs, and no other's."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aksgpu.allowances import FORM, Allowance
from aksgpu.outcome import EXIT_CODES
from aksgpu.rehearsal_stage import PROGRAM, PROJECT_VARIABLE
from aksgpu.report import ReportConsole, exit_code_of

# The groups of commands in the help.
_REHEARSE = "Rehearse on this machine"
_JUDGE = "Judge a stack before it is deployed"
_LOOK = "Look at what runs"


def _allowance(text: str) -> Allowance:
    try:
        return Allowance.read(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version

        typer.echo(f"aks-gpu {version('aks-gpu')}")
        raise typer.Exit


app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.callback()
def aksgpu(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version"),
    ] = False,
) -> None:
    """GPU node pools on Azure Kubernetes Service."""


# The program whose rehearsal a command is about.
_Project = Annotated[
    Path | None, typer.Option(help="The folder of your own Pulumi program, in place of this one's")
]


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSE)
def rehearse(
    stack: Annotated[str, typer.Option(help="The stack to rehearse: Pulumi.STACK.yaml")] = "dev",
    project: _Project = None,
    policy_pack: Annotated[
        Path | None, typer.Option(help="A policy pack. Default: the program's, in policies/")
    ] = None,
) -> None:
    """Bring a stack up on the rehearsal cloud. Needs no Azure subscription."""
    from aksgpu.rehearse import command as rehearsing

    pack = policy_pack and policy_pack.resolve()
    _exit(lambda: rehearsing.rehearse(stack, ReportConsole(), pack), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSE)
def rehearse_down(project: _Project = None) -> None:
    """Destroy the rehearsed stacks and remove the rehearsal cloud."""
    from aksgpu.rehearse import down

    _exit(lambda: down.rehearse_down(ReportConsole()), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSE)
def env(
    stack: Annotated[str, typer.Option(help="The rehearsed stack")] = "dev",
    unset: Annotated[bool, typer.Option("--unset", help="Print the lines that undo it")] = False,
    project: _Project = None,
) -> None:
    """Print the environment for pulumi and kubectl on a rehearsed stack, for eval."""
    from aksgpu.rehearse import command as rehearsing

    _exit(
        lambda: (
            rehearsing.print_earlier_environment() if unset else rehearsing.print_environment(stack)
        ),
        project,
    )


@app.command(epilog=EXIT_CODES, rich_help_panel=_LOOK)
def status(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
    project: _Project = None,
) -> None:
    """Show the rehearsal's server, clusters, pools and stacks."""
    from aksgpu.rehearse import lifecycle

    _exit(lambda: lifecycle.status(ReportConsole(), as_json=json), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_LOOK)
def dashboard(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
    project: _Project = None,
) -> None:
    """Print the address of a page that shows the rehearsal live."""
    from aksgpu.rehearse import lifecycle

    _exit(lambda: lifecycle.dashboard(ReportConsole(), as_json=json), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSE)
def stop(project: _Project = None) -> None:
    """Stop the rehearsal cloud and its clusters. Keep their data."""
    from aksgpu.rehearse import lifecycle

    _exit(lambda: lifecycle.stop(ReportConsole()), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSE)
def start(project: _Project = None) -> None:
    """Start the rehearsal cloud, and restart dead control planes."""
    from aksgpu.rehearse import lifecycle

    _exit(lambda: lifecycle.start(ReportConsole()), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_LOOK)
def check(  # noqa: PLR0913, PLR0917 (the options of a command line)
    stack: Annotated[str, typer.Option(help="The stack of the cluster")] = "dev",
    rehearsal: Annotated[
        bool, typer.Option("--rehearsal", help="Check the rehearsed stack")
    ] = False,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Check the cluster of this kubeconfig")
    ] = None,
    job: Annotated[bool, typer.Option("--job", help="Also run a pool's sample pod")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds, including the pod")] = 900.0,
    project: _Project = None,
) -> None:
    """Check whether the GPUs of a cluster can be used, and explain why not."""
    from aksgpu.check import command as checking
    from aksgpu.check.examination import CheckOptions

    options = CheckOptions(job=job, json=json, timeout=timeout)
    _exit(lambda: checking.check(stack, kubeconfig, options, rehearsal=rehearsal), project)


@app.command(epilog=EXIT_CODES, rich_help_panel=_JUDGE)
def preflight(
    stack: Annotated[str, typer.Option(help="The stack to ask Azure about")] = "dev",
    rehearsal: Annotated[
        bool, typer.Option("--rehearsal", help="Ask the rehearsal cloud instead")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Ask Azure whether it would accept a stack, and what its nodes cost."""
    from aksgpu.preflight import command as asking
    from aksgpu.rehearse.planning import rows_of_rules

    _exit(lambda: asking.preflight(stack, rows_of_rules if rehearsal else None, as_json=json))


@app.command(epilog=EXIT_CODES, rich_help_panel=_JUDGE)
def review(  # noqa: PLR0913, PLR0917 (the options of a command line)
    stack: Annotated[list[str], typer.Option(help="A stack to review; repeatable")],
    offline: Annotated[
        bool, typer.Option("--offline", help="On the rehearsal cloud: no Azure, no credentials")
    ] = False,
    base: Annotated[
        str,
        typer.Option(
            help="The commit to compare with. Its configuration of the policy pack applies"
        ),
    ] = "",
    allow: Annotated[
        list[Allowance] | None,
        typer.Option(
            parser=_allowance,
            metavar="WHAT",
            help=f"Allow a change: {FORM}; repeatable",
        ),
    ] = None,
    project: Annotated[Path, typer.Option(help="The folder of the Pulumi project")] = PROGRAM,
    markdown: Annotated[
        Path | None, typer.Option(help="Write Markdown to this file; - prints it")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write JSON to this file; - prints it")] = None,
) -> None:
    """Preview stacks with the policy pack, and report changes and findings."""
    from aksgpu.review import command as reviews
    from aksgpu.review.reviewing import ReviewOptions

    options = ReviewOptions(
        stacks=stack,
        project=project.resolve(),
        offline=offline,
        base=base,
        allowed=allow or (),
    )
    files = {"markdown": markdown, "json": json}
    _exit(lambda: reviews.review(options, files))


@app.command(epilog=EXIT_CODES, rich_help_panel=_LOOK)
def audit(
    files: Annotated[
        list[Path] | None,
        typer.Argument(help="Exports of stacks. Default: all stacks of the backend"),
    ] = None,
    policy_pack: Annotated[
        Path,
        typer.Option(help="The folder of the policy pack", show_default="the pack of this project"),
    ] = PROGRAM / "policies",
    markdown: Annotated[
        Path | None, typer.Option(help="Also write a report as Markdown to this file")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Judge all deployed stacks by what is stored of them: rules, costs, and what ends when."""
    from aksgpu.audit import command as auditing

    _exit(lambda: auditing.audit(files or (), policy_pack, markdown, as_json=json))


def _exit(command: Callable[[], int], project: Path | None = None) -> NoReturn:
    if project:
        if not (project / "Pulumi.yaml").is_file():
            raise typer.BadParameter(f"{project} has no Pulumi.yaml", param_hint="--project")
        os.environ[PROJECT_VARIABLE] = str(project.resolve())
    raise typer.Exit(exit_code_of(command))


def main() -> None:
    """The entry point."""
    app()
