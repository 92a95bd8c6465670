"""The article by hand and by program: the verdict, the rows, and how the requests differ."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape

from aksgpu.outcome import Cause
from aksgpu.report import ReportTable, print_result, table
from tests.article.comparison import NOT_SENT, Comparison, Item, Thing
from tests.article.steps import Finding

_COLOURS = {"ok": "green", "note": "cyan", "not ok": "bold red"}
_UNEXPLAINED = "NOT EXPLAINED"
_VALUE_LETTERS = 60


@dataclass(frozen=True)
class RowResult:
    number: int
    title: str
    by_hand: Finding
    by_program: Finding

    @property
    def is_ok(self) -> bool:
        return "not ok" not in (self.by_hand.result, self.by_program.result)


@dataclass(frozen=True)
class Report:
    rows: Sequence[RowResult]
    sent: Comparison

    @property
    def is_ok(self) -> bool:
        return bool(self.rows) and all(row.is_ok for row in self.rows) and self.sent.is_explained

    @property
    def verdict(self) -> Cause:
        return Cause.FINE if self.is_ok else Cause.DIFFERS

    def document(self) -> Mapping[str, Any]:
        return {
            **self.verdict.document(),
            "ok": self.is_ok,
            "rows": [
                {
                    "number": row.number,
                    "title": row.title,
                    "byHand": vars(row.by_hand),
                    "byProgram": vars(row.by_program),
                }
                for row in self.rows
            ],
            "sent": [
                {"path": thing.path, "items": list(map(_item_json, thing.items))}
                for thing in self.sent.things
            ],
            "onlyByHand": list(self.sent.only_by_hand),
            "onlyByProgram": list(self.sent.only_by_program),
        }

    def show(self, console: Console) -> None:
        """The verdict, a line for each row, and a line for each reason of differences."""
        for line in self._summary():
            console.print(line, soft_wrap=True, markup=False)
        print_result(self.verdict, console)
        console.print("\n[bold]The rows of the article[/bold]")
        for row in self.rows:
            _show_row(row, console, with_proofs=not row.is_ok)
        console.print("\n[bold]Why az and the program send different requests[/bold]")
        for reason, names in self._reasons().items():
            line = f"{len(names):4}  {reason}: {', '.join(dict.fromkeys(names))}"
            console.print(line, soft_wrap=True, markup=False, highlight=False)
        console.print()

    def show_details(self, console: Console) -> None:
        """The proofs of every row, and every difference with both values."""
        console.print("The rows of the article, with their proofs\n")
        for row in self.rows:
            _show_row(row, console, with_proofs=True)
        console.print("\nWhat az and the program send for the same resource")
        console.print("A dash: not sent, or sent as null or empty.")
        for thing in self.sent.things:
            console.print(f"\n{thing.path}", soft_wrap=True, markup=False, highlight=False)
            console.print(_sent_by_both(thing), soft_wrap=True, markup=False, highlight=False)
            console.print(_table(thing))

    def _reasons(self) -> Mapping[str, list[str]]:
        """The names of differing items by reason; items without a reason come first."""
        reasons: dict[str, list[str]] = defaultdict(list)
        for item in sorted(self.sent.items, key=lambda item: item.reason is not None):
            if not item.is_same:
                reasons[item.reason or _UNEXPLAINED].append(item.name)
        return reasons

    def _summary(self) -> Iterator[str]:
        bad = [str(row.number) for row in self.rows if not row.is_ok]
        yield f"Rows not ok: {', '.join(bad)}" if bad else f"All {len(self.rows)} rows are ok."
        differing = sum(not item.is_same for item in self.sent.items)
        unexplained = [item for item in self.sent.items if item.is_unexplained]
        yield (f"Differences between the requests: {differing}, not explained: {len(unexplained)}")
        for item in unexplained:
            values = f"{_shown(item.by_hand)} by hand, {_shown(item.by_program)} by the program"
            yield f"{_UNEXPLAINED}: {item.where}: {values}"
        for who, paths in (
            ("by hand", self.sent.only_by_hand),
            ("by the program", self.sent.only_by_program),
        ):
            yield from (f"{_UNEXPLAINED}: made only {who}: {path}" for path in paths)


def _show_row(row: RowResult, console: Console, *, with_proofs: bool) -> None:
    ways = {"by hand": row.by_hand, "by program": row.by_program}
    results = ", ".join(
        f"{way} [{_COLOURS[finding.result]}]{finding.result}[/]" for way, finding in ways.items()
    )
    console.print(f"{row.number:4}  {escape(row.title)}: {results}", soft_wrap=True)
    if not with_proofs:
        return
    if row.by_hand.proof == row.by_program.proof:
        ways = {"both": row.by_hand}
    for way, finding in ways.items():
        console.print(
            f"      {way}: {finding.proof}", soft_wrap=True, markup=False, highlight=False
        )


def _table(thing: Thing) -> ReportTable:
    differences = table("what", "by hand", "by program", "why")
    for item in thing.items:
        if not item.is_same:
            values = (_shown(item.by_hand), _shown(item.by_program))
            differences.add_row(item.where, *values, item.reason or _UNEXPLAINED)
    return differences


def _sent_by_both(thing: Thing) -> str:
    same = (f"{item.where} {_text(item.by_hand)}" for item in thing.items if item.is_same)
    return f"the same: {', '.join(same)}"


def _shown(value: Any) -> str:
    text = _text(value)
    return text if len(text) <= _VALUE_LETTERS else f"{text[:_VALUE_LETTERS]}..."


def _text(value: Any) -> str:
    if value is NOT_SENT:
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def _item_json(item: Item) -> Mapping[str, Any]:
    values = {"byHand": item.by_hand, "byProgram": item.by_program}
    return {
        "what": item.where,
        **{way: value for way, value in values.items() if value is not NOT_SENT},
        "same": item.is_same,
        "reason": item.reason,
    }
