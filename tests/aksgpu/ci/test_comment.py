"""The comment of a fork's review: made from the fields of its report, whatever is in them."""

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aksgpu.ci.comment import from_document
from aksgpu.ci.foreign import of_a_stranger
from aksgpu.outcome import Cause
from aksgpu.review.document import as_json
from tests.aksgpu.ci.test_foreign import AROUND, CALLS, LINK, TARGETS, Shown, writings
from tests.aksgpu.review.reviews import review, whole_stack

KEYS = (
    "cause", "stacks", "stack", "problems", "key", "line", "what", "advice", "judging", "brought",
    "before", "after", "lostGpuPools", "message", "remedy", "allowed", "findings", "mandatory",
    "severity", "rule", "resource", "name", "type", "rulesNotRun", "why", "preflight", "gpus",
    "vmSize", "nodes", "min", "max", "changes", "delete", "unchanged",
)  # fmt: skip
hostile = (
    st.sampled_from(TARGETS)
    .flatmap(writings)
    .flatmap(
        lambda target: st.sampled_from(AROUND).map(lambda around: around.replace("{}", target))
    )
)
leaves = st.one_of(
    hostile,
    st.sampled_from(["\n# Title\n", "```mermaid\nx\n```", "\u202eevil", "<script>", "| a | b |"]),
    st.sampled_from([cause.word for cause in Cause]),
    st.integers() | st.floats() | st.booleans() | st.none(),
)
anything = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=20,
)


def shown(document: Any) -> Shown:
    """What a reader gets to see, checked for what must not be in it."""
    markdown = of_a_stranger(from_document(document))
    assert len(markdown) < 65_000
    page = Shown(markdown)
    assert not CALLS.search(page.text), page.text
    assert not LINK.search(page.text), page.text
    assert page.links == []
    assert not re.search(r"<(?!br>|/?(?:h[23]|p|ul|li|strong|table|t[hrd]|t(?:head|body))\b)[a-z]",
                         re.sub(r"&lt;", "", page.html)), page.html  # fmt: skip
    return page


@given(
    stacks=st.lists(st.fixed_dictionaries({}, optional=dict.fromkeys(KEYS, anything))),
    all_=anything,
)
@settings(max_examples=8, deadline=None)
def test_text_of_others_contains_no_mentions_and_links(stacks: list[Any], all_: Any) -> None:
    shown(all_)
    shown({"cause": "fine", "stacks": stacks})


@given(text=hostile)
@settings(max_examples=20, deadline=None)
def test_no_text_of_a_report_becomes_markup(text: str) -> None:
    resource = {"name": text, "type": text}
    finding = {"rule": text, "severity": text, "resource": resource, "message": text}
    stack = {
        "stack": text,
        "problems": [{"key": text, "what": text, "advice": text}],
        "lostGpuPools": [{"message": text, "remedy": text}],
        "findings": [finding, finding | {"mandatory": True}],
        "rulesNotRun": [{"rule": text, "why": text, "resource": resource}],
        "judging": {"brought": [{"what": text, "before": text, "after": text}]},
        "gpus": [{"vmSize": text}],
    }
    page = shown({"cause": text, "stacks": [stack]})
    assert page.html.count("<h2>") == page.html.count("<table>") == 1


def test_the_findings_of_the_review_are_in_the_comment() -> None:
    whole = review(whole_stack(pools=2), whole_stack("prod"))
    document = json.loads(as_json(whole))
    text = shown(document).text.replace("\N{ZERO WIDTH SPACE}", "")

    def plain(words: str) -> str:
        return " ".join(words.split())[:280]

    assert whole.verdict.word in text
    for stack in document["stacks"]:
        texts = [stack["stack"], stack["cause"]]
        texts += [problem["what"] for problem in stack["problems"]]
        texts += [lost["message"] for lost in stack["lostGpuPools"]]
        texts += [finding[key] for finding in stack["findings"] for key in ("rule", "message")]
        texts += [rule["why"] for rule in stack["rulesNotRun"]]
        texts += [count["vmSize"] for count in stack["gpus"] or ()]
        assert len(texts) > 5
        for words in texts:
            assert plain(words) in text, words


def test_a_report_without_an_end_is_cut_at_a_line() -> None:
    problems = [{"what": "x" * 10_000, "advice": "y" * 10_000}] * 10_000
    document = {"stacks": [{"stack": "s", "problems": problems, "findings": problems}] * 1_000}
    markdown = from_document(document)
    assert len(markdown) < 61_000
    assert markdown.endswith("all of it.")
    assert "… and 9980 more of them." in markdown
