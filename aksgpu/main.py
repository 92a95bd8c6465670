"""The command line of `aksgpu`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aksgpu.check.examination import Wishes
from aksgpu.check.options import check as check_gpus
from aksgpu.preflight.command import preflight as ask_first
from aksgpu.project import StackFileError
from aksgpu.pulumi_cli import PulumiFailedError
from aksgpu.rehearsal_stage import PROGRAM, Era, era_of, set_stage
from aksgpu.rehearse import command as rehearsal
from aksgpu.review.command import review as review_stacks
from aksgpu.review.reviewing import Wishes as ReviewWishes
from engine import EngineUnavailableError
from rehearsal.cloud import CloudError

_EXPECTED = (
    CloudError,
    EngineUnavailableError,
    PulumiFailedError,
    StackFileError,
)

_ERA_HELP = "The time of the cloud; left out, the article's for a stack that says allowRetired"

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
# What goes wrong, and what is under way, does not belong into what a command prints.
_messages = Console(stderr=True)


@app.callback()
def aksgpu() -> None:
    """GPU node pools on Azure Kubernetes Service."""


@app.command()
def rehearse(
    stack: Annotated[str, typer.Option(help="The stack to rehearse: Pulumi.STACK.yaml")] = "dev",
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
) -> None:
    """Bring a stack up on the rehearsal cloud, on this machine, without a subscription."""
    raise typer.Exit(rehearsal.rehearse(stack, era, Console()))


@app.command()
def rehearse_down() -> None:
    """Destroy what was rehearsed, and take the rehearsal cloud away."""
    raise typer.Exit(rehearsal.rehearse_down(Console()))


@app.command()
def env(
    stack: Annotated[str, typer.Option(help="A stack of the rehearsal that is meant")] = "dev",
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
) -> None:
    """Print the shell exports with which plain pulumi works on the rehearsal."""
    for name, value in set_stage(_messages.print, era or era_of(stack)).exports().items():
        typer.echo(f"export {name}={shlex.quote(value)}")


@app.command()
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
    """Tell whether the GPUs of a cluster can be used, and if not, why; 0 where they can."""
    wishes = Wishes(job=job, json=json, timeout=timeout)
    raise typer.Exit(check_gpus(stack, era, kubeconfig, wishes, rehearsal=rehearsal))


@app.command()
def preflight(
    stack: Annotated[str, typer.Option(help="The stack that Azure is asked about")] = "dev",
    rehearsal: Annotated[
        bool, typer.Option("--rehearsal", help="Ask the rehearsal cloud, in place of Azure")
    ] = False,
    era: Annotated[Era | None, typer.Option(help=_ERA_HELP)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document")] = False,
) -> None:
    """Ask Azure whether it would take a stack, and what it would cost, before anything is made.

    Exit codes: 0 nothing stands against it; 2 wrong options; 40 stack file invalid; 41 credentials
    refused; 42 Azure unreachable; 43 something should exist and does not, or the other way round;
    44 size not offered; 45 size retired; 46 Kubernetes version not offered; 47 provider or feature
    not registered; 48 quota too small; 49 a question left open; 50 no rehearsal cloud; 130
    interrupted.
    """
    raise typer.Exit(ask_first(stack, era, rehearsal=rehearsal, as_json=json))


@app.command()
def review(  # noqa: PLR0913, PLR0917 (the options of a command line)
    stack: Annotated[list[str], typer.Option(help="A stack to review; can be given again")],
    offline: Annotated[
        bool, typer.Option("--offline", help="On the rehearsal cloud: no Azure, no credentials")
    ] = False,
    base: Annotated[
        str, typer.Option(help="With --offline: the commit whose stack files it begins from")
    ] = "",
    allow_replace: Annotated[
        list[str] | None,
        typer.Option(help="A GPU pool that may be replaced or deleted; can be given again"),
    ] = None,
    project: Annotated[Path, typer.Option(help="The folder of the Pulumi project")] = PROGRAM,
    markdown: Annotated[Path | None, typer.Option(help="Where to write Markdown; - prints")] = None,
    sarif: Annotated[Path | None, typer.Option(help="Where to write SARIF; - prints")] = None,
    json: Annotated[Path | None, typer.Option(help="Where to write JSON; - prints")] = None,
) -> None:
    """Preview stacks with the policy pack, and report what they would change and what they break.

    Exit codes: 0 nothing stands against it; 2 wrong options;
    30 a mandatory rule is broken; 31 a GPU pool is replaced or deleted;
    32 a rule could not run; 33 stack file invalid; 34 preview failed;
    35 cloud unreachable; 36 no such stack; 37 base failed;
    38 no engine; 39 the preflight found what Azure would not take; 130 interrupted.
    """
    wishes = ReviewWishes(
        stacks=stack,
        project=project.resolve(),
        offline=offline,
        base=base,
        allowed=allow_replace or (),
    )
    files = {"markdown": markdown, "sarif": sarif, "json": json}
    raise typer.Exit(review_stacks(wishes, files))


def main() -> None:
    """The entry point: a failure that is understood is told in one message, without a traceback."""
    try:
        app()
    except _EXPECTED as error:
        _messages.print(f"[bold red]error:[/bold red] {error}", soft_wrap=True, highlight=False)
        raise SystemExit(1) from None
