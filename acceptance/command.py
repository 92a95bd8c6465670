"""`aksgpu article`: both ways, each on a cloud of its own, and what came of them."""

import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from aksgpu.article import by_hand, by_program
from aksgpu.article.azure import Request
from aksgpu.article.azure_cli import ensure_azure_cli
from aksgpu.article.differences import EXPLANATIONS
from aksgpu.article.proofs_in_azure import TIME_SCALE
from aksgpu.article.report import Report, RowResult
from aksgpu.article.rows import BY_HAND, BY_PROGRAM, NOTES, ROWS
from aksgpu.article.sent import compare
from aksgpu.article.way import Finding, go
from aksgpu.rehearsal_stage import PROGRAM, Stage
from engine import ensure_engine, ensure_kubernetes
from engine.cache import Say, sole_use
from rehearsal.cloud import Cloud
from rehearsal.cloud import start as start_cloud
from rehearsal.cloud import stop as stop_cloud
from rehearsal.project import Project

_NEVER = Finding("not ok", "none of the steps shows it")


@dataclass(frozen=True)
class Happened:
    """What became of the rows in one way, and what that way sent to ARM."""

    findings: Mapping[int, Finding]
    requests: Sequence[Request]


def article(console: Console, say: Say, *, keep: bool, as_json: bool) -> int:
    """Makes the article happen twice and reports; the exit code."""
    folder = Path(os.environ.get("AKS_GPU_REHEARSAL_ROOT", PROGRAM)) / "build" / "article"
    with _told_to_end_in_order(), sole_use(folder, say):
        hand = _by_hand(folder / ".rehearsal-by-hand", say, keep=keep)
        program = _by_program(folder / ".rehearsal-by-program", say, keep=keep)
    report = _report(hand, program)
    if as_json:
        console.print(report.as_json(), soft_wrap=True, markup=False, highlight=False)
    else:
        report.show(console)
    if keep:
        say(f"Both clouds are kept, with their logs, in {folder}.")
    return 0 if report.is_ok else 1


def _by_hand(home: Path, say: Say, *, keep: bool) -> Happened:
    azure_cli, kubernetes = ensure_azure_cli(say), ensure_kubernetes(say).folder
    say("The article by hand: the Azure CLI and kubectl.")
    with _cloud(home, kubernetes, keep=keep) as cloud:
        way = by_hand.sign_in(cloud, azure_cli, kubernetes, say)
        return Happened(go(by_hand.STEPS, way, BY_HAND), way.azure.requests())


def _by_program(home: Path, say: Say, *, keep: bool) -> Happened:
    engine, kubernetes = ensure_engine(say), ensure_kubernetes(say).folder
    say("The article by this program: pulumi up.")
    with _cloud(home, kubernetes, keep=keep) as cloud:
        project = Project(PROGRAM, home)
        project.write()
        way = by_program.set_up(Stage(engine, cloud, project), kubernetes, say)
        return Happened(go(by_program.STEPS, way, BY_PROGRAM), way.azure.requests())


@contextmanager
def _told_to_end_in_order() -> Iterator[None]:
    """Told to end, as by a build that takes too long, it takes its clouds away all the same."""

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _cloud(home: Path, kubernetes: Path, *, keep: bool) -> Iterator[Cloud]:
    """A cloud without a past, that is taken away in the end."""
    _take_away(home)
    try:
        yield start_cloud(home, TIME_SCALE, era="article", kubernetes=kubernetes)
    finally:
        if not keep:
            _take_away(home)


def _take_away(home: Path) -> None:
    if home.exists():
        stop_cloud(home)
        shutil.rmtree(home)


def _report(hand: Happened, program: Happened) -> Report:
    rows = [
        RowResult(
            row.number,
            row.title,
            hand.findings.get(row.number, _NEVER),
            program.findings.get(row.number, _NEVER),
        )
        for row in ROWS
    ]
    rows += [RowResult(note.number, note.title, note.finding, note.finding) for note in NOTES]
    return Report(rows, compare(hand.requests, program.requests, EXPLANATIONS))
