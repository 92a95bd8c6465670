"""The command audit: which stacks to read, what to write, and the exit code."""

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path

from aks_catalogue.today import today
from aksgpu.audit import report
from aksgpu.audit.calendar import retirements
from aksgpu.audit.report import Audit
from aksgpu.audit.stacks import Audited, Auditor
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.price_list import PriceList
from aksgpu.rehearsal_stage import pulumi_in
from aksgpu.report import ReportConsole, print_json
from aksgpu.review.costs import Lists, PriceSource, ask, cost
from aksgpu.review.model import Span
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
    pulumi = pulumi_in(ensure_engine(), Path.cwd(), _QUIET)
    with (
        tempfile.TemporaryDirectory() as folder,
        Progress("Auditing stacks", to_stderr) as progress,
    ):
        done: list[str] = []

        def say(name: str) -> None:
            done.append(name)
            progress.update(f"{len(done)} read, {name}")

        # Exports have secrets, encrypted: nobody else may read them meanwhile.
        auditor = Auditor(pulumi, pack.resolve(), Path(folder), say)
        stacks = auditor.of_files(files) if files else auditor.of_backend()
        progress.update("asking for prices")
        costs, currency, unknown = _costs(stacks, prices or PriceSource())
    found = Audit(stacks, retirements(stacks), costs, currency, unknown, today())
    console = ReportConsole()
    if markdown is not None:
        markdown.write_text(report.as_markdown(found), encoding="utf-8")
    if as_json:
        print_json(report.document(found), console)
    else:
        report.print_tables(found, console)
    return found.verdict.exit_code


def _costs(stacks: Iterable[Audited], source: PriceSource) -> tuple[dict[str, Span], str, str]:
    """What the nodes of each stack cost an hour, the currency, and why that is not known."""
    sizes: dict[str, set[str]] = defaultdict(set)
    for stack in stacks:
        for pool, region in stack.pools:
            if region:
                sizes[region].add(pool.vm_size)
    if not sizes:
        return {}, "", "no pool has a region"
    lists: Lists = asyncio.run(ask(sizes, source))
    read = [each for each in lists.values() if isinstance(each, PriceList)]
    if not read:
        reasons = (each.reason for each in lists.values() if isinstance(each, Unanswered))
        return {}, "", next(reasons)
    return (
        {stack.name: span for stack in stacks if (span := _cost_of(stack, lists)) is not None},
        read[0].currency,
        "",
    )


def _cost_of(stack: Audited, lists: Mapping[str, PriceList | Unanswered]) -> Span | None:
    """The sum of the pools that have a price; None if none has one."""
    spans = [span for pool, region in stack.pools if (span := cost(pool, region, lists))]
    if not spans:
        return None
    return Span(
        sum((span.least for span in spans), Fraction(0)),
        sum((span.most for span in spans), Fraction(0)),
    )
