"""The command line of `aksgpu`. Each command loads what it needs, and no other's."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from aksgpu.allowances import FORM, Allowance
from aksgpu.outcome import EXIT_CODES
from aksgpu.rehearsal_stage import PROGRAM, Era
from aksgpu.report import ReportConsole, exit_code_of

_ERA_HELP = "The time of the cloud; left out, the article's for a stack that says allowRetired"

_REHEARSAL = "The rehearsal"


def _allowance(text: str) -> Allowance:
    try:
        return Allowance.read(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


@app.callback()
def aksgpu() -> None:
    """GPU node pools on Azure Kubernetes Service."""


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSAL)
def rehearse(
    stack: Annotated[str, typer.Option(help="The stack to rehearse: Pulumi.STACK.yaml")] = "dev",
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
) -> None:
    """Bring a stack up on the rehearsal cloud, on this machine, without a subscription."""
    from aksgpu.rehearse import command as rehearsing

    _exit(lambda: rehearsing.rehearse(stack, era, ReportConsole()))


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSAL)
def rehearse_down() -> None:
    """Destroy what was rehearsed, and take the rehearsal cloud away."""
    from aksgpu.rehearse import down

    _exit(lambda: down.rehearse_down(ReportConsole()))


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSAL)
def env(
    stack: Annotated[str, typer.Option(help="A stack of the rehearsal that is meant")] = "dev",
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
    unset: Annotated[
        bool, typer.Option("--unset", help="Print the way back to what the shell had before")
    ] = False,
) -> None:
    """Print what a shell evaluates, so that plain pulumi and kubectl work on the rehearsal."""
    from aksgpu.rehearse import command as rehearsing

    _exit(lambda: rehearsing.print_ways_out() if unset else rehearsing.print_ways_in(stack, era))


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSAL)
def status(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Show what runs of the rehearsals: server, clusters, pools, stacks, and what to do next."""
    from aksgpu.rehearse import governing

    _exit(lambda: governing.status(ReportConsole(), as_json=json))


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSAL)
def stop() -> None:
    """End the rehearsal cloud and its clusters, and keep all that they have."""
    from aksgpu.rehearse import governing

    _exit(lambda: governing.stop(ReportConsole()))


@app.command(epilog=EXIT_CODES, rich_help_panel=_REHEARSAL)
def start() -> None:
    """Start the rehearsal cloud again, and clusters whose control plane is dead."""
    from aksgpu.rehearse import governing

    _exit(lambda: governing.start(ReportConsole()))


@app.command(epilog=EXIT_CODES)
def check(  # noqa: PLR0913, PLR0917 (the options of a command line)
    stack: Annotated[str, typer.Option(help="The stack whose cluster is checked")] = "dev",
    rehearsal: Annotated[
        bool, typer.Option("--rehearsal", help="The rehearsed stack, in place of the real one")
    ] = False,
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="A cluster of its own right, in place of a stack's")
    ] = None,
    job: Annotated[bool, typer.Option("--job", help="Run the article's sample job too")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds, the job's included")] = 900.0,
) -> None:
    """Tell whether the GPUs of a cluster can be used, and if not, why."""
    from aksgpu.check import command as checking
    from aksgpu.check.examination import CheckOptions

    options = CheckOptions(job=job, json=json, timeout=timeout)
    _exit(lambda: checking.check(stack, era, kubeconfig, options, rehearsal=rehearsal))


@app.command(epilog=EXIT_CODES)
def preflight(
    stack: Annotated[str, typer.Option(help="The stack that Azure is asked about")] = "dev",
    rehearsal: Annotated[
        bool, typer.Option("--rehearsal", help="Ask the rehearsal cloud, in place of Azure")
    ] = False,
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Ask Azure whether it would take a stack, and what it would cost, before anything is made."""
    from aksgpu.preflight import command as asking
    from aksgpu.rehearse.planning import rows_of_rules

    _exit(lambda: asking.preflight(stack, era, rows_of_rules if rehearsal else None, as_json=json))


@app.command(epilog=EXIT_CODES)
def review(  # noqa: PLR0913, PLR0917 (the options of a command line)
    stack: Annotated[list[str], typer.Option(help="A stack to review; can be given again")],
    offline: Annotated[
        bool, typer.Option("--offline", help="On the rehearsal cloud: no Azure, no credentials")
    ] = False,
    base: Annotated[
        str,
        typer.Option(
            help="The commit that is compared with: its configuration of the pack counts, and "
            "offline it is where the stacks begin"
        ),
    ] = "",
    allow: Annotated[
        list[Allowance] | None,
        typer.Option(
            parser=_allowance,
            metavar="WHAT",
            help=f"What may happen: {FORM}; can be given again",
        ),
    ] = None,
    project: Annotated[Path, typer.Option(help="The folder of the Pulumi project")] = PROGRAM,
    markdown: Annotated[Path | None, typer.Option(help="Where to write Markdown; - prints")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Where to write SARIF; - prints")] = None,
    json: Annotated[Path | None, typer.Option(help="Where to write JSON; - prints")] = None,
) -> None:
    """Preview stacks with the policy pack, and report what they would change and break."""
    from aksgpu.review import command as reviews
    from aksgpu.review.reviewing import ReviewOptions

    options = ReviewOptions(
        stacks=stack,
        project=project.resolve(),
        offline=offline,
        base=base,
        allowed=allow or (),
    )
    files = {"markdown": markdown, "sarif": sarif, "json": json}
    _exit(lambda: reviews.review(options, files))


@app.command(epilog=EXIT_CODES)
def policies(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Left out, all that lie beside the stack files of this folder's project"
        ),
    ] = None,
) -> None:
    """Check configurations of the policy pack: rules, levels, settings and exceptions."""
    from aksgpu import policy_configuration

    _exit(lambda: policy_configuration.check(files or (), ReportConsole()))


def _exit(command: Callable[[], int]) -> NoReturn:
    raise typer.Exit(exit_code_of(command))


def main() -> None:
    """The entry point."""
    app()
