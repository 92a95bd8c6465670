"""Many stacks side by side: the largest risk first, and what all of it costs."""

from dataclasses import replace
from datetime import date

from aksgpu.outcome import Cause, Finding
from aksgpu.review import overview
from aksgpu.review.markdown import as_markdown
from aksgpu.review.model import Costs, GpuCount, StackReview
from tests.aksgpu.review.reviews import review, span, whole_stack


def stack(
    name: str, gpus: tuple[int, int] = (1, 1), dollars: tuple[int, int] | None = None
) -> StackReview:
    before, after = gpus
    one = StackReview(stack=name)
    one.gpus = [GpuCount("T4", span(0, before), span(0, after), span(0, before), span(0, after))]
    if dollars:
        one.costs = Costs(
            before=span(0, dollars[0]),
            after=span(0, dollars[1]),
            currency="USD",
            source="a list",
            asked_on=date(2026, 11, 28),
            rotating=span(0, 0),
            unpriced=[],
        )
    return one


def test_the_largest_risk_is_first() -> None:
    failed = replace(stack("failed"), problems=[Finding(Cause.PREVIEW_FAILED, "it failed", "look")])
    dearer, cheaper = stack("dearer", dollars=(1, 9)), stack("cheaper", dollars=(9, 1))
    stacks = [cheaper, stack("alike"), dearer, whole_stack("broken"), failed]
    order = [one.stack for one in overview.by_risk(stacks)]
    assert order[:2] == ["broken", "failed"]
    assert order[2:] == ["dearer", "alike", "cheaper"]


def test_a_row_has_what_changes() -> None:
    (row,) = overview.rows([stack("dev", (1, 4), (2, 8))])
    assert row == ("dev", "fine", "0", "0", "0 to 1 → 0 to 4", "0.00 to 2.00 → 0.00 to 8.00")
    (row,) = overview.rows([StackReview(stack="dev")])
    assert row[4:] == ("?", "?")


def test_charts_show_gpus_and_money_of_all() -> None:
    gpus, costs = overview.charts([stack("a", (1, 4), (2, 8)), stack("b", (3, 0), (5, 5))])
    assert '    x-axis ["a", "b"]\n    bar [1, 3]\n    line [4, 0]' in gpus
    assert "    bar [2, 5]\n    line [8, 5]" in costs
    assert [*overview.charts([StackReview(stack="a")])] == []


def test_one_stack_has_no_overview() -> None:
    assert "xychart" not in as_markdown(review(stack("a")))
    both = as_markdown(review(stack("a", (1, 4)), stack("b")))
    assert both.index("| a | fine |") < both.index("xychart-beta") < both.index("### ")
