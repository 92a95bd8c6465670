"""Runs the article both ways, each on its own cloud, and compares the results."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from aksgpu.project import Project
from aksgpu.rehearsal_stage import PROGRAM, Stage, rehearsal_root
from aksgpu.report import ReportConsole, exit_code_of, print_json
from machine_setup import ensure_engine, ensure_kubernetes
from machine_setup.cache import Say, sole_use
from machine_setup.progress import to_stderr
from rehearsal.cloud import Cloud, remove, removed_afterwards
from rehearsal.cloud import start as start_cloud
from tests.article import by_hand, by_program
from tests.article.arm_view import Request
from tests.article.azure_cli import ensure_azure_cli
from tests.article.comparison import compare
from tests.article.explanations import EXPLANATIONS
from tests.article.proofs_in_azure import TIME_SCALE
from tests.article.report import Report, RowResult
from tests.article.rows import BY_HAND, BY_PROGRAM, NOTES, ROWS
from tests.article.steps import Finding, go

_NEVER = Finding("not ok", "no step shows it")
# Wide enough that no table row is broken into lines.
_DETAILS_WIDTH = 1000


@dataclass(frozen=True)
class WayResult:
    """The findings of one way, and its requests to ARM."""

    findings: Mapping[int, Finding]
    requests: Sequence[Request]


def article(console: Console, say: Say, *, keep: bool, as_json: bool) -> int:
    """Runs the article both ways and prints the report; the exit code."""
    folder = rehearsal_root() / "build" / "article"
    with sole_use(folder, say):
        hand = _by_hand(folder / ".rehearsal-by-hand", say, keep=keep)
        program = _by_program(folder / ".rehearsal-by-program", say, keep=keep)
        report = _report(hand, program)
        details = folder / "report.txt"
        with details.open("w", encoding="utf-8") as file:
            report.show_details(ReportConsole(file=file, width=_DETAILS_WIDTH))
    if as_json:
        print_json(report.document(), console)
    else:
        report.show(console)
        console.print(f"Proofs and values: {details}", soft_wrap=True)
    if keep:
        say(f"Both clouds are kept, with their logs, in {folder}.")
    return report.verdict.exit_code


def _by_hand(home: Path, say: Say, *, keep: bool) -> WayResult:
    azure_cli, kubernetes = ensure_azure_cli(say), ensure_kubernetes(say).folder
    say("The article by hand: the Azure CLI and kubectl.")
    with _cloud(home, kubernetes, keep=keep) as cloud:
        way = by_hand.sign_in(cloud, azure_cli, kubernetes, say)
        return WayResult(go(by_hand.STEPS, way, BY_HAND), way.azure.requests())


def _by_program(home: Path, say: Say, *, keep: bool) -> WayResult:
    engine, kubernetes = ensure_engine(say), ensure_kubernetes(say).folder
    say("The article by this program: pulumi up.")
    with _cloud(home, kubernetes, keep=keep) as cloud:
        project = Project(PROGRAM, home)
        project.write()
        way = by_program.set_up(Stage(engine, cloud, project), kubernetes, say)
        return WayResult(go(by_program.STEPS, way, BY_PROGRAM), way.azure.requests())


@contextmanager
def _cloud(home: Path, kubernetes: Path, *, keep: bool) -> Iterator[Cloud]:
    """A new cloud, which is removed at the end."""
    with nullcontext() if keep else removed_afterwards(home):
        remove(home)
        yield start_cloud(home, TIME_SCALE, era="article", kubernetes=kubernetes)


def _report(hand: WayResult, program: WayResult) -> Report:
    rows = []
    for row in ROWS:
        findings = (way.findings.get(row.number, _NEVER) for way in (hand, program))
        rows.append(RowResult(row.number, row.title, *findings))
    return Report([*rows, *NOTES], compare(hand.requests, program.requests, EXPLANATIONS))


def main(
    keep: Annotated[bool, typer.Option("--keep", help="Keep both clouds and their logs")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON")] = False,
) -> None:
    """Run the article twice, by hand and by this program, and compare the two."""
    raise typer.Exit(
        exit_code_of(lambda: article(ReportConsole(), to_stderr, keep=keep, as_json=as_json))
    )


def command() -> None:
    typer.run(main)
