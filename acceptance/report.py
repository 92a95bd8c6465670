"""Both ways side by side, for people and for programs."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from acceptance.comparison import UNSAID, Comparison, Item, Thing
from acceptance.steps import Finding
from aksgpu.outcome import Cause
from aksgpu.report import print_result, table

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
        return Cause.FINE if self.is_ok else Cause.ARTICLE_DIFFERS

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
        console.print("\n[bold]The article, row by row: by hand, and by this program[/bold]\n")
        for row in self.rows:
            _show_row(row, console)
        console.print("\n[bold]What the two ways sent to Azure for the same thing[/bold]")
        console.print("A dash: not said, or said with null or what is empty.")
        for thing in self.sent.things:
            console.print(f"\n[bold]{escape(thing.path)}[/bold]", soft_wrap=True)
            console.print(_said_by_both(thing), soft_wrap=True, markup=False, highlight=False)
            console.print(_table(thing))
        for line in self._summary():
            console.print(line, soft_wrap=True, markup=False)
        print_result(self.verdict, console)

    def _summary(self) -> Iterator[str]:
        yield ""
        for who, paths in (
            ("by hand", self.sent.only_by_hand),
            ("by the program", self.sent.only_by_program),
        ):
            yield from (f"NOT EXPLAINED: made {who} alone: {path}" for path in paths)
        bad = [str(row.number) for row in self.rows if not row.is_ok]
        yield f"Rows not ok: {', '.join(bad)}" if bad else f"All {len(self.rows)} rows are ok."
        differing = sum(not item.is_same for item in self.sent.items)
        unexplained = sum(item.is_unexplained for item in self.sent.items)
        yield f"Differences: {differing}, of which not explained: {unexplained}"


def _show_row(row: RowResult, console: Console) -> None:
    ways = {"by hand": row.by_hand, "by program": row.by_program}
    results = ", ".join(
        f"{way} [{_COLOURS[found.result]}]{found.result}[/]" for way, found in ways.items()
    )
    console.print(f"[bold]{row.number:2}  {escape(row.title)}[/bold]: {results}", soft_wrap=True)
    proofs = {found.proof for found in ways.values()}
    if len(proofs) == 1:
        ways = {"both": row.by_hand}
    for way, found in ways.items():
        console.print(f"      {way}: {found.proof}", soft_wrap=True, markup=False, highlight=False)


def _table(thing: Thing) -> Table:
    shown = table("what", "by hand", "by program", "why")
    for item in thing.items:
        if not item.is_same:
            values = (_shown(item.by_hand), _shown(item.by_program))
            style = "red" if item.is_unexplained else ""
            shown.add_row(escape(item.where), *values, item.reason or _UNEXPLAINED, style=style)
    return shown


def _said_by_both(thing: Thing) -> str:
    same = (f"{item.where} {_text(item.by_hand)}" for item in thing.items if item.is_same)
    return f"the same: {', '.join(same)}"


def _shown(value: Any) -> str:
    text = _text(value)
    return escape(text if len(text) <= _VALUE_LETTERS else f"{text[:_VALUE_LETTERS]}...")


def _text(value: Any) -> str:
    if value is UNSAID:
        return "-"
    return value if isinstance(value, str) else json.dumps(value)


def _item_json(item: Item) -> Mapping[str, Any]:
    said = {"byHand": item.by_hand, "byProgram": item.by_program}
    return {
        "what": item.where,
        **{way: value for way, value in said.items() if value is not UNSAID},
        "same": item.is_same,
        "reason": item.reason,
    }
