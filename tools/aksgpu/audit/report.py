"""The report of an audit: a table and what ends when, for people, as Markdown, and as JSON."""

from collections.abc import Iterator, Sequence
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
from aksgpu.report import as_data, print_result, table
from aksgpu.review.model import Span, sum_of

_HEADINGS = ("stack", "pools", "GPUs", "cost an hour", "mandatory", "advisory", "ends next")
_NOTHING = Span(Fraction(0), Fraction(0))


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
        causes = [Cause.UNANSWERED for stack in self.stacks if stack.reason]
        is_broken = any(one.is_mandatory for stack in self.stacks for one in stack.broken)
        return verdict([*causes, *[Cause.RULE_BROKEN] * is_broken])

    @property
    def title(self) -> str:
        return f"{len(self.stacks)} stack{'s' * (len(self.stacks) != 1)}"

    def rows(self) -> list[tuple[str, ...]]:
        """A row for each stack, the largest risk first."""

        def risk(stack: Audited) -> tuple[bool, int, date, str]:
            mandatory = sum(one.is_mandatory for one in stack.broken)
            return not stack.reason, -mandatory, self._next(stack) or date.max, stack.name

        return [self._row(stack) for stack in sorted(self.stacks, key=risk)]

    def _next(self, stack: Audited) -> date | None:
        return next((each.day for each in self.retirements if each.stack == stack.name), None)

    def _row(self, stack: Audited) -> tuple[str, ...]:
        pools = [pool for pool, _ in stack.pools]
        mandatory = sum(one.is_mandatory for one in stack.broken)
        findings = (mandatory, len(stack.broken) - mandatory)
        return (
            stack.name,
            str(len(pools)),
            str(sum_of(pool.gpus or _NOTHING for pool in pools if pool.may_have_gpus)),
            str(self.costs.get(stack.name, "?")),
            *("?" if stack.reason else str(number) for number in findings),
            str(self._next(stack) or ""),
        )

    def total(self) -> str:
        missing = [f"{pool} of {name}" for name, it in self.costs.items() for pool in it.unpriced]
        unread = (stack.name for stack in self.stacks if stack.reason)
        missing += [name for name in unread if name not in self.costs]
        known = sum_of(cost.known for cost in self.costs.values())
        whole = Cost(known or _NOTHING, missing)
        why = self.cost_unknown or (f"no price for {listed(missing)}" if missing else "")
        if not whole.is_known:
            return f"What the nodes cost is not known: {why}."
        text = " ".join(filter(None, [str(whole), self.currency]))
        return f"All nodes together cost {text} an hour{': ' * bool(why)}{why}."

    def details(self, *, advisory: bool) -> Iterator[str]:
        """Yields a line for each stack that cannot be read, each finding, and each end."""
        for stack in self.stacks:
            if stack.reason:
                yield f"{stack.name} cannot be read: {stack.reason}"
            for one in stack.broken:
                if one.is_mandatory or advisory:
                    level = "mandatory" if one.is_mandatory else "advisory"
                    yield f"{stack.name}, {one.resource}, {one.rule} ({level}): {one.message}"
        for each in self.retirements:
            yield f"{each.day}: {each.what} ends, in {each.stack} ({each.resource})"


def print_tables(audit: Audit, console: Console) -> None:
    rows = table(*_HEADINGS, title=audit.title)
    for row in audit.rows():
        rows.add_row(*row)
    console.print(rows)
    for line in (audit.total(), *audit.details(advisory=False)):
        console.print(Text(line), soft_wrap=True)
    print_result(audit.verdict, console)


def as_markdown(audit: Audit) -> str:
    cells = [_HEADINGS, ["---"] * len(_HEADINGS), *(map(escape, row) for row in audit.rows())]
    lines = [f"# Audit of {audit.title}, {audit.today}", "", escape(audit.total()), ""]
    lines += [f"| {' | '.join(row)} |" for row in cells]
    lines += ["", *(f"- {escape(line)}" for line in audit.details(advisory=True))]
    return "\n".join(lines) + "\n"


def document(audit: Audit) -> dict[str, Any]:
    return {
        **audit.verdict.document(),
        "currency": audit.currency,
        "costUnknown": audit.cost_unknown,
        "stacks": [_document(stack, audit.costs.get(stack.name)) for stack in audit.stacks],
        "calendar": as_data(audit.retirements),
    }


def _document(stack: Audited, cost: Cost | None) -> dict[str, Any]:
    pools = (pool for pool, _ in stack.pools)
    return {
        "name": stack.name,
        "reason": stack.reason,
        "pools": [{"name": pool.name, "vmSize": pool.vm_size, "spot": pool.spot} for pool in pools],
        "hourly": cost.known if cost and cost.is_known else None,
        "unpriced": cost.unpriced if cost else [],
        "findings": as_data(stack.broken),
    }
