"""The comment: short enough whatever the stack, and nothing in it breaks out."""

import dataclasses
import re
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aksgpu.markdown import escape
from aksgpu.outcome import Cause
from aksgpu.review.markdown import as_markdown
from aksgpu.review.model import Costs, PoolChange, PoolState, Resource, Review, StackReview
from tests.aksgpu.review.reviews import review, span, whole_stack

# GitHub's.
MOST = 65_536
NASTY = (
    "| a | <b onload='x'> ``` `c` @everyone #12 **d** [e](http://evil.example) "
    "</details> <!-- --> &lt; $x$ :smile: www.evil.example\n\n# heading\n- item\n| --- |"
)


def rendered(text: str) -> str:
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def words(html: str) -> str:
    return re.sub(r"<[^>]*>", "", html)


def test_the_report_contains_everything() -> None:
    text = as_markdown(review(whole_stack()))
    for word in (
        "A note.",
        "gpuPools[0].vmSize: is wrong",
        "do it right",
        "The GPU pool pool0 (Standard_NC8as_T4_v3) is replaced, because of vmSize.",
        "--allow replace:dev/pool0",
        "It is broken.",
        "Mend it.",
        "high, mandatory",
        "b-rule",
        "Not known.",
        "replaced: pool0",
        "compared with the stack files at main",
        "stack-file-invalid",
        "exit code 1",
    ):
        assert word in words(rendered(text)).replace("&quot;", '"'), word
    assert '<a href="https://example.com/a-rule">a-rule</a>' in text
    assert "| Standard&#95;NC0 | 0 to 1       | 1 to 2      | 0 to 4      | unknown    |" in text
    # Details are folded; what they belong to is not.
    assert text.index("<summary>Changes") > text.index("It is broken.")


@pytest.mark.parametrize(
    "stacks",
    [
        [whole_stack(pools=300)],
        [whole_stack(pools=300, text="x" * 2000)],
        [whole_stack(pools=300, text=NASTY * 8)],
        [whole_stack(f"stack{number}", pools=10) for number in range(120)],
    ],
)
def test_a_report_of_any_stack_fits_a_comment(stacks: list[StackReview]) -> None:
    text = as_markdown(review(*stacks))
    assert len(text) < MOST
    assert len(text.encode()) < MOST
    assert f"exit code {Cause.STACK_FILE_INVALID.exit_code}" in text
    assert text.count("<details>") == text.count("</details>")
    assert "more" in text
    assert "### ❌ Stack" in text


def test_what_does_not_fit_is_counted_and_nothing_stays_folded() -> None:
    text = as_markdown(review(*[whole_stack(f"stack{number}", pools=40) for number in range(9)]))
    assert "pool0" in text
    assert re.search(r"… and \d+ more lines: the JSON report has everything.\n$", text)


def test_several_stacks_stand_in_one_table_the_worst_first() -> None:
    """The failed one was the last of twelve, below two screens."""
    costs = Costs(
        before=span(0, 2),
        after=span(0, 8),
        currency="USD",
        source="a list",
        asked_on=date(2026, 11, 28),
        rotating=span(0, 0),
        unpriced=[],
    )
    state = PoolState("T4", span(0, 1), span(0, 1))
    change = PoolChange(
        pool="a", resource=Resource("a"), becomes="changed", before=[state], after=[state, state]
    )
    fine = StackReview(stack="dearer", pools=[change], costs=costs)
    text = as_markdown(review(fine, whole_stack()))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[4:8]]
    assert rows[2:] == [
        ["dev", "stack-file-invalid", "1", "1", "0 to 4 → unknown", "?"],
        ["dearer", "fine", "0", "0", "0 to 1 → 0 to 2", "0.00 to 2.00 → 0.00 to 8.00"],
    ]
    assert text.index("### ❌ Stack dev") < text.index("### ✅ Stack dearer")
    assert "| stack " not in as_markdown(review(fine))


def test_foreign_text_contains_no_markup() -> None:
    plain = rendered(as_markdown(review(whole_stack())))
    nasty = rendered(as_markdown(review(whole_stack(text=NASTY))))

    # No element more, and no element less, than with harmless text.
    def elements(html: str) -> list[str]:
        return re.findall(r"<[^>]*>", html)

    assert elements(nasty) == elements(plain)
    assert "@everyone" not in nasty
    assert "#12" not in nasty
    assert "everyone" in nasty


@given(st.text())
def test_escaped_text_contains_no_markup(text: str) -> None:
    shown = escape(text)
    assert "\n" not in shown
    assert not re.search(r"[|<>`*_\[\]\\@#$~]", re.sub(r"&#\d+;", "", shown))


@pytest.mark.parametrize("address", ["http://evil.example", "www.evil.example", "WWW.evil.x"])
def test_an_escaped_url_becomes_no_link(address: str) -> None:
    assert not re.search(r"://|www\.", escape(address), re.IGNORECASE)
    assert words(rendered(escape(address))).strip() == address


def test_an_invalid_link_is_left_out() -> None:
    stack = whole_stack()
    (finding,) = stack.findings
    object.__setattr__(finding, "url", "javascript:alert(1)")
    assert "javascript" not in as_markdown(review(stack))


def test_a_review_without_changes_is_reported_as_fine() -> None:
    fine = StackReview(stack="dev", pools=[], unchanged=3)
    text = as_markdown(Review(offline=False, stacks=[fine]))
    assert "✅ GPU review: fine" in text
    assert "Nothing changes." in text
    assert "compared with what each stack has now" in text


def test_rules_with_the_same_reason_are_one_item() -> None:
    """One chart that was not rendered yet made eleven lines, all alike."""
    stack = whole_stack()
    (one,) = stack.not_run
    stack.not_run = [dataclasses.replace(one, rule=f"rule-{name}") for name in "abc"]
    text = words(rendered(as_markdown(review(stack))))
    assert "rule-a, rule-b, rule-c: pool0" in text
    assert text.count("Not known.") == 1


def test_advice_is_folded_and_failures_are_not() -> None:
    stack = whole_stack()
    advice = dataclasses.replace(stack.findings[0], mandatory=False, message="It could be better.")
    stack.findings.append(advice)
    text = as_markdown(review(stack))
    folded = text[text.index("<details><summary>Advice: 1</summary>") :]
    assert "It could be better." in folded
    assert "It is broken." not in folded
