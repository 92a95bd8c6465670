"""The report as Markdown: for a pull request's comment, for a job's summary, and for a terminal.

GitHub refuses comments longer than 65 536 characters. A long report is cut where it matters least:
long lists first, then long texts, then whole stacks. The verdict always stays. A terminal shows
the stacks in full: nothing is folded, and no text is escaped.
"""

import html
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from aksgpu.markdown import escape
from aksgpu.outcome import Finding
from aksgpu.preflight.rows import Row
from aksgpu.review import overview, wording
from aksgpu.review.diagram import as_mermaid
from aksgpu.review.model import (
    CHANGE_KINDS,
    CHANGE_WORDS,
    Change,
    LostPool,
    NotRun,
    Review,
    StackReview,
    Violation,
)

_Item = TypeVar("_Item")

_MOST_BYTES = 60_000
# How many items of a list and how many characters of a text to show, from most to least.
_CUTS = ((1000, 4000), (200, 1500), (50, 800), (20, 500), (5, 300), (1, 150))
# A diagram of more pools is not readable.
_MOST_DRAWN = 20
_FEWER_STACKS = (100, 30, 10, 3)
_OK, _NOT_OK, _WARNING = "✅", "❌", "⚠️"

_SPACE = re.compile(r"\s+")
# Before a further line of an item.
_INDENT = "\n  "


def as_markdown(review: Review) -> str:
    stacks = overview.by_risk(review.stacks)
    writers = [(_Writer(*cut), stacks) for cut in _CUTS]
    writers += [(_Writer(0, _CUTS[-1][1]), stacks[:most]) for most in _FEWER_STACKS]
    texts = (writer.report(review, shown) for writer, shown in writers)
    shortest = writers[-1][0].report(review, [])
    return next((text for text in texts if len(text.encode()) <= _MOST_BYTES), shortest)


def for_terminal(review: Review) -> str:
    """The Markdown of the stacks, as a terminal shows it."""
    writer = _Writer(sys.maxsize, sys.maxsize, is_for_github=False)
    return "\n".join(line for stack in review.stacks for line in writer.stack(review, stack))


@dataclass(frozen=True)
class _Writer:
    """Writes reports with lists of at most `most` items and texts of at most `letters`."""

    most: int
    letters: int
    is_for_github: bool = True

    def report(self, review: Review, shown: Sequence[StackReview]) -> str:
        verdict = review.verdict
        sign = _NOT_OK if verdict.exit_code else _OK
        sentence = self._text(verdict.sentence.capitalize())
        lines = [
            f"## {sign} GPU review: {self._text(verdict.word)}\n",
            f"{sentence}. Reviewed {self._text(review.setting)}.\n",
        ]
        if len(review.stacks) > 1 and shown:
            lines += [*self._overview(review.stacks), ""]
        for stack in shown:
            lines += [*self.stack(review, stack), ""]
        if left := len(review.stacks) - len(shown):
            lines += [f"… and {left} more stacks, which did not fit."]
        return "\n".join(lines).rstrip() + "\n"

    def _overview(self, stacks: Sequence[StackReview]) -> Iterator[str]:
        """Yields a table of the stacks, the largest risk first, and pictures of all."""
        yield _row(overview.HEADINGS)
        yield _row(["---"] * len(overview.HEADINGS))
        yield from self._list([*overview.rows(stacks)], lambda row: _row(map(self._text, row)))
        yield from (f"```mermaid\n{chart}\n```\n" for chart in overview.charts(stacks))

    def stack(self, review: Review, stack: StackReview) -> Iterator[str]:
        sign = _NOT_OK if stack.verdict.exit_code else _OK
        name = f"Stack {self._text(stack.stack)} on {review.cloud}"
        yield f"### {sign} {name}: {self._text(stack.verdict.word)}\n"
        yield from self._list(stack.notes, lambda note: f"_{self._text(note)}_")
        yield from self._list(stack.problems, self._problem)
        if stack.policy_changes and stack.policy_changes.changes:
            yield f"**{wording.POLICY_CHANGES}.** {self._text(stack.policy_changes.result)}\n"
            yield from self._list(
                stack.policy_changes.changes,
                lambda change: f"- {self._text(wording.change_in_words(change))}",
            )
        if stack.lost:
            yield f"**{_WARNING} {wording.LOST}**\n"
        yield from self._list(stack.lost, self._lost)
        yield from self._findings(stack)
        if stack.not_run:
            yield f"**{wording.NOT_RUN}: {len(stack.not_run)}** ({wording.NOT_RUN_MEANING})\n"
        yield from self._list(_by_reason(stack.not_run), self._not_run)
        if stack.preflight:
            yield self._text(wording.preflight_result(stack.preflight)) + "\n"
            yield from self._list(wording.preflight_rows(stack.preflight), self._answer)
        yield from self._gpus(stack)
        if stack.costs:
            yield self._text(wording.costs_in_words(stack.costs)) + "\n"
        if self.is_for_github and (diagram := self._diagram(stack)):
            yield f"```mermaid\n{diagram}\n```\n"
        yield from self._changes(stack)

    def _diagram(self, stack: StackReview) -> str:
        return as_mermaid(stack.pools, stack.gpus or (), min(self.most, _MOST_DRAWN))

    def _problem(self, problem: Finding) -> str:
        key = f"**{self._text(problem.key + problem.place)}**: " if problem.key else ""
        what = problem.what if key else problem.what + problem.place
        return self._lines(f"{_NOT_OK} {key}{self._text(what)}", self._remedy(problem.advice))

    def _lost(self, lost: LostPool) -> str:
        sign = _OK if lost.allowed else _NOT_OK
        return self._lines(f"{sign} {self._text(lost.message)}", self._remedy(lost.remedy))

    def _not_run(self, rule: NotRun) -> str:
        where = self._text(wording.where(rule.resource))
        return self._lines(f"{_NOT_OK} {self._text(rule.rule)}: {where}", self._text(rule.why))

    def _answer(self, row: Row) -> str:
        sign = _NOT_OK if row.cause else _WARNING
        line = f"{sign} {self._text(wording.asked_about(row))}: {self._text(row.what)}"
        return self._lines(line, self._remedy(row.advice))

    def _change(self, change: Change) -> str:
        changed = "" if change.kind == "create" else ", ".join(change.properties)
        line = f"- {CHANGE_WORDS[change.kind]}: {self._text(wording.where(change.resource))}"
        return f"{line}: {self._text(changed)}" if changed else line

    def _findings(self, stack: StackReview) -> Iterator[str]:
        """Mandatory findings in full; advisory ones folded."""
        findings = wording.grouped(stack.findings)
        mandatory = [(finding, places) for finding, places in findings if finding.mandatory]
        advice = [(finding, places) for finding, places in findings if not finding.mandatory]
        if mandatory:
            yield "**Rules that are broken**\n"
        yield from self._list(mandatory, self._finding)
        if advice:
            yield from self._folded(f"Advice: {len(advice)}", self._list(advice, self._finding))

    def _finding(self, grouped: tuple[Violation, str]) -> str:
        finding, places = grouped
        sign = _NOT_OK if finding.mandatory else _WARNING
        rule = self._link(self._text(finding.rule), finding.url)
        return self._lines(
            f"{sign} **{self._text(wording.grade(finding))}** · {rule} · {self._text(places)}",
            self._text(finding.message),
            self._remedy(finding.remedy),
        )

    def _gpus(self, stack: StackReview) -> Iterator[str]:
        if not stack.gpus:
            yield (wording.GPUS_NOT_KNOWN if stack.gpus is None else wording.NO_GPUS) + "\n"
            return
        rows = wording.gpu_rows(stack.gpus)
        # The last row has the totals.
        shown = rows if len(rows) <= self.most else [*rows[: self.most], rows[-1]]
        cells = [wording.GPU_HEADINGS, *(tuple(map(self._text, row)) for row in shown)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        cells.insert(1, tuple("-" * width for width in widths))
        for row in cells:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield f"| {' | '.join(padded)} |"
        yield ""

    def _changes(self, stack: StackReview) -> Iterator[str]:
        if not stack.changes:
            yield wording.NO_CHANGES if stack.gpus is not None else ""
            return
        numbers = self._text(wording.changes_in_words(stack))
        changes = sorted(stack.changes, key=lambda change: CHANGE_KINDS.index(change.kind))
        yield from self._folded(f"Changes: {numbers}", self._list(changes, self._change))

    def _folded(self, summary: str, lines: Iterable[str]) -> Iterator[str]:
        is_folded = self.is_for_github
        yield f"<details><summary>{summary}</summary>\n" if is_folded else f"**{summary}**\n"
        yield from lines
        if is_folded:
            yield "</details>\n"

    def _list(self, items: Sequence[_Item], line: Callable[[_Item], str]) -> Iterator[str]:
        """The first items of a list, and how many more there are."""
        yield from map(line, items[: self.most])
        if (left := len(items) - self.most) > 0:
            yield f"- … and {left} more: the JSON report has them all."
        if items:
            yield ""

    def _lines(self, *lines: str) -> str:
        """An item of a list, with its lines."""
        return f"- {('<br>' if self.is_for_github else _INDENT).join(filter(None, lines))}"

    def _remedy(self, text: str) -> str:
        return f"→ {self._text(text)}" if text else ""

    def _link(self, text: str, address: str) -> str:
        if not self.is_for_github or not address.startswith("https://"):
            return text
        return f'<a href="{html.escape(_SPACE.sub("", address))}">{text}</a>'

    def _text(self, text: str) -> str:
        return escape(text, self.letters) if self.is_for_github else text.replace("\n", _INDENT)


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _by_reason(not_run: Iterable[NotRun]) -> list[NotRun]:
    """The rules with the same reason as one: a chart without resources stops every stack rule."""
    rules: dict[NotRun, list[str]] = {}
    for each in not_run:
        rules.setdefault(replace(each, rule=""), []).append(each.rule)
    return [replace(each, rule=", ".join(names)) for each, names in rules.items()]
