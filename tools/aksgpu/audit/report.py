"""The report of an audit: a table and a calendar for people, Markdown, and JSON."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from rich.console import Console
from rich.text import Text

from aksgpu.audit.calendar import Retirement
from aksgpu.audit.stacks import Audited
from aksgpu.markdown import escape
from aksgpu.outcome import Cause, listed, verdict
from aksgpu.report import print_result, table
from aksgpu.review.model import Span

_HEADINGS = ("stack", "pools", "GPUs", "cost an hour", "mandatory", "advisory", "ends next")
_NOTHING = Span(Fraction(0), Fraction(0))


def summed(spans: Iterable[Span]) -> Span:
    least, most = Fraction(0), Fraction(0)
    for span in spans:
        least, most = least + span.least, most + span.most
    return Span(least, most)


@dataclass(frozen=True)
class Cost:
    """What nodes cost an hour, as far as it is known, and the pools that are not in it."""

    known: Span
    unpriced: Sequence[str] = ()

    @property
    def is_known(self) -> bool:
        return bool(self.known.most) or not self.unpriced

    def __str__(self) -> str:
        text = f"{'at least ' * bool(self.unpriced)}{self.known.money}"
        return text if self.is_known else "?"


@dataclass(frozen=True)
class Audit:
    """What is known of all stacks."""

    stacks: Sequence[Audited]
    retirements: Sequence[Retirement]
    # Of each stack that can be read, by its name, in `currency`; and why some are not known.
    costs: dict[str, Cost]
    currency: str
    cost_unknown: str
    today: date

    @property
    def verdict(self) -> Cause:
        causes = [Cause.AUDIT_INCOMPLETE for stack in self.stacks if stack.reason]
        is_broken = any(one.is_mandatory for stack in self.stacks for one in stack.broken)
        return verdict([*causes, *[Cause.RULE_BROKEN] * is_broken])

    def rows(self) -> list[tuple[str, ...]]:
        """A row for each stack, the largest risk first."""
        return [tuple(self._row(stack)) for stack in sorted(self.stacks, key=self._risk)]

    def _risk(self, stack: Audited) -> tuple[int, int, date, str]:
        mandatory = sum(one.is_mandatory for one in stack.broken)
        return -bool(stack.reason), -mandatory, self._next(stack) or date.max, stack.name

    def _next(self, stack: Audited) -> date | None:
        return next((each.day for each in self.retirements if each.stack == stack.name), None)

    def _row(self, stack: Audited) -> Iterator[str]:
        pools = [pool for pool, _ in stack.pools]
        gpus = [pool.gpus or _NOTHING for pool in pools if pool.may_have_gpus]
        mandatory = sum(one.is_mandatory for one in stack.broken)
        day = self._next(stack)
        yield stack.name
        yield str(len(pools))
        yield str(summed(gpus))
        yield str(self.costs.get(stack.name, "?"))
        yield "?" if stack.reason else str(mandatory)
        yield "?" if stack.reason else str(len(stack.broken) - mandatory)
        yield str(day or "")

    def unread(self) -> list[Audited]:
        return [stack for stack in self.stacks if stack.reason]

    def total(self) -> str:
        missing = [f"{pool} of {name}" for name, it in self.costs.items() for pool in it.unpriced]
        missing += [stack.name for stack in self.unread() if stack.name not in self.costs]
        whole = Cost(summed(cost.known for cost in self.costs.values()), missing)
        why = self.cost_unknown or (f"no price for {listed(missing)}" if missing else "")
        if not whole.is_known:
            return f"What the nodes cost is not known: {why}."
        text = " ".join(filter(None, [str(whole), self.currency]))
        return f"All nodes together cost {text} an hour{': ' * bool(why)}{why}."


def print_tables(audit: Audit, console: Console) -> None:
    rows = table(*_HEADINGS, title=_stacks(audit))
    for row in audit.rows():
        rows.add_row(*map(Text, row))
    console.print(rows)
    console.print(Text(audit.total()), soft_wrap=True)
    for stack in audit.unread():
        console.print(Text(f"{stack.name} cannot be read: {stack.reason}"), soft_wrap=True)
    for stack in audit.stacks:
        for one in stack.broken:
            if one.is_mandatory:
                text = f"{stack.name}, {one.resource}, {one.rule}: {one.message}"
                console.print(Text(text), soft_wrap=True)
    for each in audit.retirements:
        text = f"{each.day}: {each.what} ends, in {each.stack} ({each.resource})"
        console.print(Text(text), soft_wrap=True)
    print_result(audit.verdict, console)


def as_markdown(audit: Audit) -> str:
    lines = [f"# Audit of {_stacks(audit)}, {audit.today}", "", audit.total(), ""]
    lines += [_line(_HEADINGS), _line(["---"] * len(_HEADINGS))]
    lines += [_line(map(escape, row)) for row in audit.rows()]
    if audit.retirements:
        lines += ["", "## What ends when", "", "```mermaid", *_timeline(audit), "```"]
        lines += ["", _line(("day", "what", "stack", "resource")), _line(["---"] * 4)]
        lines += [
            _line(map(escape, (str(each.day), each.what, each.stack, each.resource)))
            for each in audit.retirements
        ]
    lines += ["", "## Findings", ""]
    lines += [f"- {escape(it.name)} cannot be read: {escape(it.reason)}" for it in audit.unread()]
    lines += [
        f"- {'**mandatory**' if one.is_mandatory else 'advisory'}: {escape(stack.name)}, "
        f"{escape(one.resource)}, {one.rule}: {escape(one.message)}"
        for stack in audit.stacks
        for one in sorted(stack.broken, key=lambda one: not one.is_mandatory)
    ]
    return "\n".join(lines) + "\n"


def _stacks(audit: Audit) -> str:
    return f"{len(audit.stacks)} stack{'s' * (len(audit.stacks) != 1)}"


def _timeline(audit: Audit) -> Iterator[str]:
    """Yields a picture: the months in which something ends, with the number of stacks."""
    yield "timeline"
    by_month: dict[str, dict[str, set[str]]] = {}
    for each in audit.retirements:
        month = "ended" if each.day < audit.today else f"{each.day:%Y-%m}"
        by_month.setdefault(month, {}).setdefault(each.what, set()).add(each.stack)
    for month, ends in by_month.items():
        what = " : ".join(f"{name}, {len(stacks)} of the stacks" for name, stacks in ends.items())
        yield f"    {month} : {what}"


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _cost_document(cost: Cost | None) -> dict[str, Any]:
    known = [float(end) for end in cost.known] if cost and cost.is_known else None
    return {"hourly": known, "unpriced": [*cost.unpriced] if cost else []}


def document(audit: Audit) -> dict[str, Any]:
    return {
        **audit.verdict.document(),
        "currency": audit.currency,
        "costUnknown": audit.cost_unknown,
        "stacks": [
            {
                "name": stack.name,
                "reason": stack.reason,
                "pools": [
                    {"name": pool.name, "vmSize": pool.vm_size, "spot": pool.spot}
                    for pool, _ in stack.pools
                ],
                **_cost_document(audit.costs.get(stack.name)),
                "findings": [
                    {
                        "rule": one.rule,
                        "isMandatory": one.is_mandatory,
                        "resource": one.resource,
                        "message": one.message,
                    }
                    for one in stack.broken
                ],
            }
            for stack in audit.stacks
        ],
        "calendar": [
            {
                "day": str(each.day),
                "what": each.what,
                "stack": each.stack,
                "resource": each.resource,
            }
            for each in audit.retirements
        ],
    }
