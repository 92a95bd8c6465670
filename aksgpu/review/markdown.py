"""The report as Markdown, for a pull request's comment and for a job's summary.

GitHub refuses comments longer than 65 536 characters. A long report is cut where it matters least:
long lists first, then long texts, then whole stacks. The verdict always stays.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from aksgpu.markdown import MARKER, escape
from aksgpu.outcome import Finding
from aksgpu.preflight.rows import Row
from aksgpu.review import wording
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


def as_markdown(review: Review) -> str:
    # Failing stacks first.
    stacks = sorted(review.stacks, key=lambda stack: stack.verdict.exit_code == 0)
    writers = [(_Writer(*cut), review.stacks) for cut in _CUTS]
    writers += [(_Writer(0, _CUTS[-1][1]), stacks[:most]) for most in _FEWER_STACKS]
    texts = (writer.report(review, shown) for writer, shown in writers)
    shortest = writers[-1][0].report(review, [])
    return next((text for text in texts if len(text.encode()) <= _MOST_BYTES), shortest)


@dataclass(frozen=True)
class _Writer:
    """Writes reports with lists of at most `most` items and texts of at most `letters`."""

    most: int
    letters: int

    def report(self, review: Review, shown: Sequence[StackReview]) -> str:
        verdict = review.verdict
        sign = _NOT_OK if verdict.exit_code else _OK
        sentence = self._text(verdict.sentence.capitalize())
        lines = [
            f"{MARKER}\n## {sign} GPU review: {self._text(verdict.word)}\n",
            f"{sentence}. Reviewed {self._text(review.setting)}.\n",
        ]
        for stack in shown:
            lines += [*self._stack(stack), ""]
        if left := len(review.stacks) - len(shown):
            lines += [f"… and {left} more stacks, which did not fit."]
        return "\n".join(lines).rstrip() + "\n"

    def _stack(self, stack: StackReview) -> Iterator[str]:
        sign = _NOT_OK if stack.verdict.exit_code else _OK
        yield f"### {sign} Stack {self._text(stack.stack)}: {self._text(stack.verdict.word)}\n"
        yield from self._list(stack.notes, lambda note: f"_{self._text(note)}_")
        yield from self._list(stack.problems, lambda problem: self._problem(stack, problem))
        if stack.judging and stack.judging.brought:
            yield f"**{wording.BROUGHT}.** {self._text(stack.judging.result)}\n"
            yield from self._list(
                stack.judging.brought,
                lambda change: f"- {self._text(wording.change_in_words(change))}",
            )
        if stack.lost:
            yield f"**{_WARNING} {wording.LOST}**\n"
        yield from self._list(stack.lost, self._lost)
        yield from self._findings(stack)
        if stack.not_run:
            yield f"**{wording.NOT_RUN}: {len(stack.not_run)}** ({wording.NOT_RUN_MEANING})\n"
        yield from self._list(stack.not_run, self._not_run)
        if stack.preflight:
            yield self._text(wording.preflight_result(stack.preflight)) + "\n"
            yield from self._list(wording.preflight_rows(stack.preflight), self._answer)
        yield from self._gpus(stack)
        if stack.costs:
            yield self._text(wording.costs_in_words(stack.costs)) + "\n"
        if diagram := as_mermaid(stack.pools, stack.gpus or (), min(self.most, _MOST_DRAWN)):
            yield f"```mermaid\n{diagram}\n```\n"
        yield from self._changes(stack)

    def _problem(self, stack: StackReview, problem: Finding) -> str:
        line = problem.line or stack.lines.get(problem.key)
        place = problem.place or (f" (line {line})" if line else "")
        key = f"**{self._text(problem.key + place)}**: " if problem.key else ""
        what = problem.what if key else problem.what + place
        return f"- {_NOT_OK} {key}{self._text(what)}<br>→ {self._text(problem.advice)}"

    def _lost(self, lost: LostPool) -> str:
        sign = _OK if lost.allowed else _NOT_OK
        return f"- {sign} {self._text(lost.message)}<br>→ {self._text(lost.remedy)}"

    def _not_run(self, rule: NotRun) -> str:
        where = self._text(wording.where(rule.resource))
        return f"- {_NOT_OK} {self._text(rule.rule)}: {where}<br>{self._text(rule.why)}"

    def _answer(self, row: Row) -> str:
        sign = _NOT_OK if row.cause else _WARNING
        line = f"- {sign} {self._text(wording.asked_about(row))}: {self._text(row.what)}"
        return f"{line}<br>→ {self._text(row.advice)}" if row.advice else line

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
            yield f"<details><summary>Advice: {len(advice)}</summary>\n"
            yield from self._list(advice, self._finding)
            yield "</details>\n"

    def _finding(self, grouped: tuple[Violation, str]) -> str:
        finding, places = grouped
        sign = _NOT_OK if finding.mandatory else _WARNING
        rule = self._text(finding.rule)
        if finding.url.startswith("https://"):
            rule = f'<a href="{html.escape(_SPACE.sub("", finding.url))}">{rule}</a>'
        parts = [
            f"- {sign} **{self._text(wording.grade(finding))}** · {rule} · {self._text(places)}",
            self._text(finding.message),
        ]
        parts += [f"→ {self._text(finding.remedy)}"] if finding.remedy else []
        return "<br>".join(parts)

    def _gpus(self, stack: StackReview) -> Iterator[str]:
        if not stack.gpus:
            yield (wording.GPUS_NOT_KNOWN if stack.gpus is None else wording.NO_GPUS) + "\n"
            return
        rows = wording.gpu_rows(stack.gpus)
        yield f"| {' | '.join(wording.GPU_HEADINGS)} |"
        yield f"|{' --- |' * len(wording.GPU_HEADINGS)}"
        # The last row has the totals.
        shown = rows if len(rows) <= self.most else [*rows[: self.most], rows[-1]]
        for row in shown:
            yield f"| {' | '.join(map(self._text, row))} |"
        yield ""

    def _changes(self, stack: StackReview) -> Iterator[str]:
        if not stack.changes:
            yield wording.NO_CHANGES if stack.gpus is not None else ""
            return
        numbers = self._text(wording.changes_in_words(stack))
        yield f"<details><summary>Changes: {numbers}</summary>\n"
        changes = sorted(stack.changes, key=lambda change: CHANGE_KINDS.index(change.kind))
        yield from self._list(changes, self._change)
        yield "</details>"

    def _list(self, items: Sequence[_Item], line: Callable[[_Item], str]) -> Iterator[str]:
        """The first items of a list, and how many more there are."""
        yield from map(line, items[: self.most])
        if (left := len(items) - self.most) > 0:
            yield f"- … and {left} more: the JSON report has them all."
        if items:
            yield ""

    def _text(self, text: str) -> str:
        return escape(text, self.letters)
