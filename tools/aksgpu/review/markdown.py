"""The report as Markdown: for a pull request's comment, for a job's summary, and for a terminal.

GitHub refuses comments longer than 65 536 characters: what does not fit is cut off at the end, and
counted. The verdicts come first. A terminal shows everything: no text is escaped, nothing folded.
"""

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from aksgpu.markdown import escape
from aksgpu.outcome import Cause, Finding
from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.rows import Row
from aksgpu.review.diagram import as_mermaid
from aksgpu.review.model import (
    CHANGE_KINDS,
    CHANGE_WORDS,
    Change,
    Costs,
    LostPool,
    NotRun,
    PoolChange,
    Resource,
    Review,
    Span,
    StackReview,
    Violation,
    states_of,
    sum_of,
)

_MOST_BYTES = 60_000
_MOST_LETTERS = 2_000
_OK, _NOT_OK, _WARNING = "✅", "❌", "⚠️"
_OVERVIEW = ("stack", "result", "lost", "mandatory", "GPUs", "cost an hour")
_GPU_TABLE = ("size", "nodes before", "nodes after", "GPUs before", "GPUs after")
_FOLD, _UNFOLD = "<details>", "</details>\n"
_SPACE = re.compile(r"\s+")
# Before a further line of an item.
_INDENT = "\n  "


def as_markdown(review: Review) -> str:
    """The report for GitHub."""
    writer, sign = _Writer(), _NOT_OK if review.verdict.exit_code else _OK
    sentence = f"{review.verdict.sentence.capitalize()}. Reviewed {review.setting}."
    lines = [
        f"## {sign} GPU review: {escape(review.verdict.word)}\n",
        f"{escape(sentence)}\n",
        *writer.stacks(review),
    ]
    return _fitting(lines).rstrip() + "\n"


def for_terminal(review: Review) -> str:
    """The same of the stacks, as a terminal shows it."""
    return "\n".join(_Writer(is_for_github=False).stacks(review))


def _fitting(lines: Sequence[str]) -> str:
    """As many lines as a comment can have, and how many more there are."""
    shown, left = "", _MOST_BYTES
    for number, line in enumerate(lines):
        left -= len(line.encode()) + 1
        if left < 0:
            unfold = _UNFOLD * (shown.count(_FOLD) - shown.count(_UNFOLD))
            more = f"… and {len(lines) - number} more lines: the JSON report has everything."
            return f"{shown}\n{unfold}\n{more}"
        shown += f"{line}\n"
    return shown


@dataclass(frozen=True)
class _Writer:
    is_for_github: bool = True

    def stacks(self, review: Review) -> Iterator[str]:
        """Yields a table of several stacks, the worst first, and then each of them."""
        order = list(Cause)
        stacks = sorted(
            review.stacks, key=lambda one: (not one.verdict.is_problem, order.index(one.verdict))
        )
        if len(stacks) > 1:
            yield from self._table(_OVERVIEW, [_overview(stack) for stack in stacks])
        for stack in stacks:
            yield from self._stack(review, stack)

    def _stack(self, review: Review, stack: StackReview) -> Iterator[str]:
        sign = _NOT_OK if stack.verdict.exit_code else _OK
        name = f"Stack {self._text(stack.stack)} on {review.cloud}"
        yield f"### {sign} {name}: {self._text(stack.verdict.word)}\n"
        yield from self._list("", [f"_{self._text(note)}_\n" for note in stack.notes])
        yield from self._list("", map(self._problem, stack.problems))
        if (policy := stack.policy_changes) and policy.changes:
            head = "The change modifies the policy configuration that it is reviewed with."
            changes = [f"{one.what}: {one.before} becomes {one.after}" for one in policy.changes]
            yield f"**{head}** {self._text(policy.result)}\n"
            yield from self._list("", [f"- {self._text(change)}" for change in changes])
        lost = map(self._lost, stack.lost)
        yield from self._list(f"**{_WARNING} GPU pools that are lost or rotated**\n", lost)
        findings = _grouped(stack.findings)
        mandatory = [self._finding(*one) for one in findings if one[0].mandatory]
        yield from self._list("**Rules that are broken**\n", mandatory)
        advice = [self._finding(*one) for one in findings if not one[0].mandatory]
        yield from self._folded(f"Advice: {len(advice)}", advice)
        why = "they need values that are not known before the update, so this review fails"
        head = f"**Rules that could not run: {len(stack.not_run)}** ({why})\n"
        yield from self._list(head, map(self._not_run, _by_reason(stack.not_run)))
        if stack.preflight:
            head = f"{self._text(f'Preflight: {stack.preflight.verdict.meaning}.')}\n"
            rows = [self._answer(row) for row in stack.preflight.rows if row.answer != "ok"]
            yield from self._list(head, rows, always=True)
        yield from self._gpus(stack.pools)
        if stack.costs:
            yield f"{self._text(_costs(stack.costs))}\n"
        if self.is_for_github and (diagram := as_mermaid(stack.pools or ())):
            yield f"```mermaid\n{diagram}\n```\n"
        yield from self._changes(stack)

    def _problem(self, problem: Finding) -> str:
        key = f"**{self._text(problem.key + problem.place)}**: " if problem.key else ""
        what = problem.what if key else problem.what + problem.place
        return self._item(f"{_NOT_OK} {key}{self._text(what)}", self._remedy(problem.advice))

    def _lost(self, lost: LostPool) -> str:
        sign = _OK if lost.allowed else _NOT_OK
        return self._item(f"{sign} {self._text(lost.message)}", self._remedy(lost.remedy))

    def _finding(self, finding: Violation, places: str) -> str:
        level, sign = ("mandatory", _NOT_OK) if finding.mandatory else ("advisory", _WARNING)
        grade = self._text(f"{finding.severity or 'no severity'}, {level}")
        rule = self._text(finding.rule)
        if self.is_for_github and finding.url.startswith("https://"):
            rule = f'<a href="{html.escape(_SPACE.sub("", finding.url))}">{rule}</a>'
        return self._item(
            f"{sign} **{grade}** · {rule} · {self._text(places)}",
            self._text(finding.message),
            self._remedy(finding.remedy),
        )

    def _not_run(self, rule: NotRun) -> str:
        line = f"{_NOT_OK} {self._text(f'{rule.rule}: {_where(rule.resource)}')}"
        return self._item(line, self._text(rule.why))

    def _answer(self, row: Row) -> str:
        text = f"{row.pool or 'the whole stack'}, {row.question}: {row.what}"
        line = f"{_NOT_OK if row.cause else _WARNING} {self._text(text)}"
        return self._item(line, self._remedy(row.advice))

    def _gpus(self, pools: Sequence[PoolChange] | None) -> Iterator[str]:
        """Yields a table of the GPUs by size, with totals if there are several sizes."""
        if pools is None:
            yield "The preview failed: the number of GPUs after the change is not known.\n"
        elif not pools:
            yield "There are no GPU pools, neither before nor after.\n"
        else:
            before, after = (states_of(pools, was=was) for was in (True, False))
            rows = []
            for size in sorted({state.vm_size for state in (*before, *after)}):
                old, new = (
                    [one for one in side if one.vm_size == size] for side in (before, after)
                )
                nodes = (_sum(one.nodes for one in side) for side in (old, new))
                rows.append(
                    (size, *nodes, *(_sum(one.gpus for one in side) for side in (old, new)))
                )
            if len(rows) > 1:
                rows.append(("all", "", "", *_gpus(pools)))
            yield from self._table(_GPU_TABLE, rows)

    def _changes(self, stack: StackReview) -> Iterator[str]:
        if not stack.changes:
            yield "" if stack.pools is None else "Nothing changes.\n"
            return
        counts = Counter(change.kind for change in stack.changes)
        numbers = [f"{counts[kind]} {CHANGE_WORDS[kind]}" for kind in CHANGE_KINDS[::-1]]
        numbers = [number for number in numbers if number[0] != "0"]
        changes = sorted(stack.changes, key=lambda change: CHANGE_KINDS.index(change.kind))
        summary = ", ".join([*numbers, f"{stack.unchanged} unchanged"])
        yield from self._folded(f"Changes: {summary}", map(self._change, changes))

    def _change(self, change: Change) -> str:
        line = f"- {CHANGE_WORDS[change.kind]}: {self._text(_where(change.resource))}"
        changed = "" if change.kind == "create" else ", ".join(change.properties)
        return f"{line}: {self._text(changed)}" if changed else line

    def _folded(self, summary: str, items: Iterable[str]) -> Iterator[str]:
        if lines := [*items]:
            fold = f"{_FOLD}<summary>{summary}</summary>\n"
            yield fold if self.is_for_github else f"**{summary}**\n"
            yield from [*lines, ""]
            if self.is_for_github:
                yield _UNFOLD

    def _list(self, head: str, items: Iterable[str], *, always: bool = False) -> Iterator[str]:
        """Yields the items of a list below its head; nothing if there are none."""
        lines = [*items]
        if head and (lines or always):
            yield head
        if lines:
            yield from [*lines, ""]

    def _item(self, *lines: str) -> str:
        return f"- {('<br>' if self.is_for_github else _INDENT).join(filter(None, lines))}"

    def _remedy(self, text: str) -> str:
        return f"→ {self._text(text)}" if text else ""

    def _table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
        cells = [headings, *([self._text(cell) for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        cells.insert(1, ["-" * width for width in widths])
        for row in cells:
            padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            yield f"| {' | '.join(padded)} |"
        yield ""

    def _text(self, text: str) -> str:
        if self.is_for_github:
            return escape(text, _MOST_LETTERS)
        return text.replace("\n", _INDENT)


def _overview(stack: StackReview) -> tuple[str, ...]:
    """The row of a stack in the table of all."""
    gpus, costs = _gpus(stack.pools or ()), stack.costs
    money = (costs.before.money, costs.after.money) if isinstance(costs, Costs) else ("?",)
    return (
        stack.stack,
        stack.verdict.word,
        # A pool that rotates is lost to nobody.
        str(sum(pool.kind != "rotate" for pool in stack.lost)),
        str(sum(finding.mandatory for finding in stack.findings)),
        "?" if stack.pools is None else " → ".join(dict.fromkeys(gpus)),
        " → ".join(dict.fromkeys(money)),
    )


def _gpus(pools: Sequence[PoolChange]) -> Iterator[str]:
    """Yields the sums of all GPUs before and after."""
    for was in (True, False):
        yield _sum(state.gpus for state in states_of(pools, was=was))


def _sum(spans: Iterable[Span | None]) -> str:
    total = sum_of(spans)
    return "unknown" if total is None else str(total)


def _costs(costs: Costs | Unanswered) -> str:
    """What the nodes cost an hour, before and after."""
    if isinstance(costs, Unanswered):
        return f"What the nodes cost is not known: {costs.reason}."
    more = f"; up to {costs.rotating.money} more while pools rotate" * bool(costs.rotating.most)
    unpriced = f" Without {', '.join(costs.unpriced)}: no price known." * bool(costs.unpriced)
    return (
        f"By {costs.source} of {costs.asked_on}, the nodes cost {costs.before.money} "
        f"{costs.currency} an hour before, and {costs.after.money} after{more}.{unpriced}"
    )


def _where(resource: Resource | None) -> str:
    return f"{resource.name} ({resource.type})" if resource else "the whole stack"


def _grouped(findings: Iterable[Violation]) -> list[tuple[Violation, str]]:
    """Merges findings that differ only by the resource; each has the list of its resources."""
    places: dict[Violation, list[Resource | None]] = {}
    for finding in findings:
        places.setdefault(replace(finding, resource=None), []).append(finding.resource)
    return [(finding, _all_of(resources)) for finding, resources in places.items()]


def _all_of(resources: Iterable[Resource | None]) -> str:
    names: dict[str, list[str]] = {}
    for resource in resources:
        if resource is None:
            return _where(None)
        names.setdefault(resource.type, []).append(resource.name)
    return ", ".join(f"{', '.join(of_kind)} ({kind})" for kind, of_kind in names.items())


def _by_reason(not_run: Iterable[NotRun]) -> list[NotRun]:
    """The rules with the same reason as one: a chart without resources stops every stack rule."""
    rules: dict[NotRun, list[str]] = {}
    for each in not_run:
        rules.setdefault(replace(each, rule=""), []).append(each.rule)
    return [replace(each, rule=", ".join(names)) for each, names in rules.items()]
