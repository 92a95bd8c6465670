"""`python -m azure_proof`: the proof on real Azure, and its comparison with the rehearsal."""

from pathlib import Path
from typing import Annotated

import typer

from aksgpu.rehearsal_stage import PROGRAM
from aksgpu.report import ReportConsole, exit_code_of
from azure_proof import comparing, proving, removal
from azure_proof.choice import REGIONS
from azure_proof.steps import EXTRA

FOLDER = PROGRAM / "build" / "azure-proof"
app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


@app.command()
def prove(
    location: Annotated[
        list[str] | None, typer.Option(help="Try only this region; repeatable")
    ] = None,
    size: Annotated[str, typer.Option(help="Try only this VM size")] = "",
    extra: Annotated[
        list[str] | None,
        typer.Option("--with", help=f"Also prove {', '.join(EXTRA)}; repeatable; costs more"),
    ] = None,
    hours: Annotated[
        float, typer.Option(min=0.01, max=24, help="After these, everything is removed")
    ] = 3,
    folder: Annotated[Path, typer.Option(help="Where the evidence goes")] = FOLDER,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask")] = False,
) -> None:
    """Create a cluster in your subscription, prove each promise on it, and remove it."""
    for name in extra or ():
        if name not in EXTRA:
            raise typer.BadParameter(f"--with {name}: use one of {', '.join(EXTRA)}")
    options = proving.Options(
        folder=folder.resolve(),
        hours=hours,
        regions=location or REGIONS,
        size=size,
        extra=frozenset(extra or ()),
        yes=yes,
    )
    raise typer.Exit(exit_code_of(lambda: proving.prove(options, ReportConsole())))


@app.command()
def clean(
    folder: Annotated[Path, typer.Option(help="The folder of the proof")] = FOLDER,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask")] = False,
) -> None:
    """Delete the resource groups of all proofs in your subscription, found by their tag."""
    raise typer.Exit(exit_code_of(lambda: removal.clean(folder, ReportConsole(), yes=yes)))


@app.command()
def compare(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="evidence.json")],
) -> None:
    """Replay a proof on the rehearsal cloud, and list every difference."""
    raise typer.Exit(exit_code_of(lambda: comparing.compare(file, ReportConsole())))


if __name__ == "__main__":
    app()
