"""The command audit: which stacks to read, what to write, and the exit code."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import typer

from aks_catalogue.today import today
from aksgpu.audit import report
from aksgpu.audit.calendar import retirements
from aksgpu.audit.report import Audit, Cost
from aksgpu.audit.stacks import Audited, Auditor
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.price_list import PriceList
from aksgpu.rehearsal_stage import pulumi_in
from aksgpu.report import ReportConsole, print_json
from aksgpu.review.costs import Lists, PriceSource, ask, cost, total_of
from machine_setup import ensure_engine
from machine_setup.progress import Progress, to_stderr

# Pulumi itself says it of every stack, with --json too.
_QUIET = {"PULUMI_SKIP_UPDATE_CHECK": "true"}


def audit(
    files: Sequence[Path],
    pack: Path,
    markdown: Path | None,
    *,
    as_json: bool,
    prices: PriceSource | None = None,
) -> int:
    """Audits exported files, or all stacks of the backend; the exit code."""
    if markdown is not None and (markdown.is_dir() or not markdown.resolve().parent.is_dir()):
        raise typer.BadParameter(
            f"{markdown} cannot be written: it is a folder, or its folder does not exist."
        )
    pulumi = pulumi_in(ensure_engine(), Path.cwd(), _QUIET)
    with (
        # Exports have secrets, encrypted: nobody else may read them meanwhile.
        tempfile.TemporaryDirectory() as folder,
        Progress("Auditing stacks", to_stderr) as progress,
    ):
        done: list[str] = []

        def say(name: str) -> None:
            done.append(name)
            progress.update(f"{len(done)} read, {name}")

        auditor = Auditor(pulumi, pack.resolve(), Path(folder), say)
        stacks = auditor.of_files(files) if files else auditor.of_backend()
        progress.update("asking for prices")
        costs, currency, unknown = _costs(stacks, prices or PriceSource())
    found = Audit(stacks, retirements(stacks), costs, currency, unknown, today())
    console = ReportConsole()
    if as_json:
        print_json(report.document(found), console)
    else:
        report.print_tables(found, console)
    if markdown is not None:
        markdown.write_text(report.as_markdown(found), encoding="utf-8")
    return found.verdict.exit_code


def _costs(stacks: Iterable[Audited], source: PriceSource) -> tuple[dict[str, Cost], str, str]:
    """What the nodes of each stack cost an hour, the currency, and why some of it is not known."""
    sizes: dict[str, set[str]] = defaultdict(set)
    for stack in stacks:
        for pool, region in stack.pools:
            if region:
                sizes[region].add(pool.vm_size)
    lists: Lists = asyncio.run(ask(sizes, source)) if sizes else {}
    costs = {
        stack.name: _cost_of(stack, lists)
        for stack in stacks
        if stack.resources or not stack.reason
    }
    reasons = [each.reason for each in lists.values() if isinstance(each, Unanswered)]
    reasons += ["no pool has a region"] * (not sizes)
    is_whole = not any(each.unpriced for each in costs.values())
    currencies = (each.currency for each in lists.values() if isinstance(each, PriceList))
    return costs, next(currencies, ""), "" if is_whole else next(iter(reasons), "")


def _cost_of(stack: Audited, lists: Mapping[str, PriceList | Unanswered]) -> Cost:
    priced = [(pool.name, cost(pool, region, lists)) for pool, region in stack.pools]
    return Cost(
        total_of(span for _, span in priced),
        sorted({name for name, span in priced if not span}),
    )
