"""The report: a line for each row, the differences, and whether all is well."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from aksgpu.report import as_json
from tests.article.arm_view import Request
from tests.article.comparison import NOT_SENT, Comparison, Explanation, compare
from tests.article.report import Report, RowResult
from tests.article.steps import Finding

NOW = datetime(2026, 11, 22, tzinfo=UTC)
OK, NOTE = Finding("ok", "seen with kubectl"), Finding("note", "see the docs")
NOT_OK = Finding("not ok", "there is no node [at all]")
WELL = RowResult(1, "Linux only", OK, OK)
POOL = "/resourceGroups/g/providers/x/managedClusters/c/agentPools/gpu"


def sent(hand: Any, program: Any, *known: Explanation) -> Comparison:
    hand, program = (
        Request(NOW, "PUT", f"/subscriptions/1{POOL}", {}, {}, {"properties": body}, 201)
        for body in (hand, program)
    )
    return compare([hand], [program], known)


SAME = sent({"count": 1}, {"count": 1})


def shown(report: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    report.show(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def details(report: Report) -> str:
    console = Console(file=io.StringIO(), width=200)
    report.show_details(console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize(
    ("row", "is_ok"),
    [
        (WELL, True),
        (RowResult(1, "a", NOTE, NOTE), True),
        (RowResult(1, "a", NOT_OK, OK), False),
        (RowResult(1, "a", OK, NOT_OK), False),
    ],
)
def test_a_row_that_is_not_ok_fails_the_report(row: RowResult, is_ok: bool) -> None:
    assert Report([WELL, row], SAME).is_ok is is_ok


def test_an_unexplained_difference_fails_the_report() -> None:
    report = Report([WELL], sent({"count": 1}, {"count": 2}))

    assert not report.is_ok
    first, second, third, *_ = shown(report).splitlines()
    assert first == "All 1 rows are ok."
    assert second == "Differences between the requests: 1, not explained: 1"
    assert third == "NOT EXPLAINED: properties.count: 1 by hand, 2 by the program"


def test_the_verdict_is_first_and_a_reason_is_one_line() -> None:
    """The verdict was the last line but one of 651, of which 500 were tables of differences."""
    known = (
        Explanation("pool osSKU", NOT_SENT, "Ubuntu", "the default"),
        Explanation("pool mode", NOT_SENT, "User", "the default"),
    )
    printed = shown(Report([WELL], sent({}, {"osSKU": "Ubuntu", "mode": "User"}, *known)))
    lines = printed.splitlines()
    assert lines[2].startswith("Result: fine - ")
    assert "   2  the default: pool osSKU, pool mode" in lines
    assert len(lines) < 12


def test_a_report_without_rows_is_not_ok() -> None:
    assert not Report([], SAME).is_ok


def test_a_row_shows_both_results_with_their_reasons() -> None:
    text = shown(Report([RowResult(7, "the namespace", OK, NOT_OK)], SAME))

    assert "7  the namespace: by hand ok, by program not ok" in text
    assert "by hand: seen with kubectl" in text
    assert "by program: there is no node [at all]" in text
    assert "Rows not ok: 7" in text


def test_a_result_of_both_sides_is_reported_once() -> None:
    report = Report([WELL], SAME)

    assert details(report).count("seen with kubectl") == 1
    assert "both: seen with kubectl" in details(report)
    assert "seen with kubectl" not in shown(report)
    assert "All 1 rows are ok." in shown(report)


def test_a_difference_is_shown_with_both_values_and_its_reason() -> None:
    known = Explanation("pool osSKU", NOT_SENT, "Ubuntu", "it is the default")
    text = details(Report([WELL], sent({"count": 1}, {"count": 1, "osSKU": "Ubuntu"}, known)))

    (line,) = [line for line in text.splitlines() if "osSKU" in line]
    assert [cell for cell in line.split("  ") if cell] == [
        "properties.osSKU",
        "-",
        "Ubuntu",
        "it is the default",
    ]
    assert "the same: properties.count 1" in text


def test_a_resource_on_only_one_side_is_reported() -> None:
    text = shown(Report([WELL], Comparison(SAME.things, only_by_hand=(POOL,))))

    assert f"NOT EXPLAINED: made only by hand: {POOL}" in text


def test_the_json_report_has_the_same_content() -> None:
    known = Explanation("pool osSKU", NOT_SENT, "Ubuntu", "it is the default")
    comparison = sent({"count": 1}, {"count": 1, "osSKU": "Ubuntu"}, known)

    document = json.loads(
        as_json(Report([WELL, RowResult(2, "a", NOT_OK, OK)], comparison).document())
    )

    assert document["ok"] is False
    assert document["rows"][1]["byHand"] == {
        "result": "not ok",
        "proof": "there is no node [at all]",
    }
    (thing,) = document["sent"]
    assert thing["path"] == POOL
    assert thing["items"] == [
        {
            "what": "properties.count",
            "byHand": 1,
            "byProgram": 1,
            "same": True,
            "reason": None,
        },
        {
            "what": "properties.osSKU",
            "byProgram": "Ubuntu",
            "same": False,
            "reason": "it is the default",
        },
    ]
