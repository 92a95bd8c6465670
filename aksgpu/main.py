"""The command line of `aksgpu`."""

import shlex
from typing import Annotated

import typer
from rich.console import Console

from aksgpu import rehearse as rehearsal
from aksgpu.pulumi_cli import PulumiFailedError
from aksgpu.rehearsal_stage import set_stage
from engine import EngineUnavailableError
from rehearsal.cloud import CloudError
from rehearsal.project import StackFileError

_EXPECTED = (CloudError, EngineUnavailableError, PulumiFailedError, StackFileError)

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
# What goes wrong, and what is under way, does not belong into what a command prints.
_messages = Console(stderr=True)


@app.callback()
def aksgpu() -> None:
    """GPU node pools on Azure Kubernetes Service."""


@app.command()
def rehearse(
    stack: Annotated[
        str, typer.Option(help="The stack file to rehearse: Pulumi.STACK.yaml")
    ] = "dev",
) -> None:
    """Bring a stack up on the rehearsal cloud, on this machine, without a subscription."""
    raise typer.Exit(rehearsal.rehearse(stack, Console()))


@app.command()
def rehearse_down() -> None:
    """Destroy what was rehearsed, and take the rehearsal cloud away."""
    raise typer.Exit(rehearsal.rehearse_down(Console()))


@app.command()
def env() -> None:
    """Print the shell exports with which plain pulumi works on the rehearsal."""
    for name, value in set_stage(_messages.print).exports().items():
        typer.echo(f"export {name}={shlex.quote(value)}")


def main() -> None:
    """The entry point: a failure that is understood is told in one message, without a traceback."""
    try:
        app()
    except _EXPECTED as error:
        _messages.print(f"[bold red]error:[/bold red] {error}", soft_wrap=True, highlight=False)
        raise SystemExit(1) from None
