"""The command line of `aksgpu`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aksgpu import rehearse as rehearsal
from aksgpu.article.azure_cli import AzureCliUnavailableError
from aksgpu.article.command import article as both_ways
from aksgpu.article.running import CommandFailedError
from aksgpu.check.examination import Wishes
from aksgpu.check.options import check as check_gpus
from aksgpu.pulumi_cli import PulumiFailedError
from aksgpu.rehearsal_stage import Era, era_of, set_stage
from engine import EngineUnavailableError
from rehearsal.cloud import CloudError
from rehearsal.project import StackFileError

_EXPECTED = (
    AzureCliUnavailableError,
    CloudError,
    CommandFailedError,
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
def article(
    keep: Annotated[bool, typer.Option("--keep", help="Keep both clouds and their logs")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON")] = False,
) -> None:
    """Make the article happen twice, by hand and by this program, and compare the two."""

    def say(line: str) -> None:
        _messages.print(line, soft_wrap=True, markup=False, highlight=False)

    raise typer.Exit(both_ways(Console(), say, keep=keep, as_json=as_json))


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


def main() -> None:
    """The entry point: a failure that is understood is told in one message, without a traceback."""
    try:
        app()
    except _EXPECTED as error:
        _messages.print(f"[bold red]error:[/bold red] {error}", soft_wrap=True, highlight=False)
        raise SystemExit(1) from None
