"""A stranger's report, rendered as GitHub renders it: it calls nobody and points nowhere."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aksgpu.ci.foreign import of_a_colleague, of_a_stranger
from aksgpu.markdown import MARKER
from aksgpu.review.markdown import as_markdown
from tests.aksgpu.review.reviews import review, whole_stack

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
TARGETS = (
    "#123",
    "o/r#123",
    "GH-123",
    "@octocat",
    "@a/team",
    "https://github.com/o/r/issues/1",
    "https://github.com/o/r/pull/1",
    "https://github.com/o/r/discussions/1",
    "https://github.com/o/r/commit/abcdef0",
)
NAMES = {"#": "&num;", "@": "&commat;", "/": "&sol;", ":": "&colon;", ".": "&period;"}
AROUND = (
    "see {} there",
    "[x]({})",
    "[x](<{}>)",
    "![x]({})",
    "<{}>",
    "[x]\n\n[x]: {}",
    "[x][y]\n\n[y]: {} 'z'",
    '<a href="{}">x</a>',
    '<<a>a href="{}">x</a>',
    "<img src='{}'>",
    "# {}",
    "**{}**",
    "| a |\n|---|\n| {} |",
    "> - {}",
    "a<!-- b -->{}",
    "<details><summary>{}</summary>\n\n{}\n</details>",
)
CALLS = re.compile(r"@\w|#\d|\bGH-\d|/(?:issues|pull|discussions|commit)/\w", re.IGNORECASE)
# Mentions and numbers are looked for in texts alone; of an address, where it leads.
THREADS = re.compile(r"/(?:issues|pull|discussions|commit)/\w", re.IGNORECASE)
LINK = re.compile(r"\b(?:https?:)?//\w|\bwww\.\w", re.IGNORECASE)


def writings(target: str) -> st.SearchStrategy[str]:
    """The ways in which a text can be written."""
    return st.tuples(*(st.sampled_from(ways(letter)) for letter in target)).map("".join)


def ways(letter: str) -> list[str]:
    code = ord(letter)
    spellings = [letter, letter, f"&#{code};", f"&#0{code};", f"&#x{code:X};"]
    spellings += [] if letter.isalnum() else [f"\\{letter}"]
    return [*spellings, *([NAMES[letter]] if letter in NAMES else []), f"%{code:02x}"]


class Shown(HTMLParser):
    """The texts and the addresses in HTML."""

    def __init__(self, markdown: str) -> None:
        super().__init__()
        self.text, self.links = "", list[str]()
        self.html = MARKDOWN.render(markdown)
        self.feed(self.html)

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, _tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [unquote(value or "") for name, value in attrs if name in ("href", "src")]


@pytest.mark.parametrize("made", [of_a_stranger, of_a_colleague])
@given(written=st.sampled_from(TARGETS).flatmap(writings), around=st.sampled_from(AROUND))
@example(written="GH\\-123", around="see {} there")
@example(written="GH&#45;123", around="see {} there")
@example(written="G&#72;-123", around="see {} there")
@example(written="&#123", around="see {} there")
@example(written="https://github.com/o/r/iss&#117;es/1", around="[x]({})")
@example(written="https://github.com/o/r/issues\\/1", around="[x]({})")
@settings(max_examples=80, deadline=None)
def test_text_of_a_fork_never_links_to_another_thread(
    made: Callable[[str], str], written: str, around: str
) -> None:
    """Thirty-seven ways got through: entities, backslashes and addresses with either."""
    shown = Shown(made(around.replace("{}", written)))
    assert not CALLS.search(shown.text), shown.text
    assert not [link for link in shown.links if THREADS.search(link)]
    if made is of_a_stranger:
        assert shown.links == []
        assert not LINK.search(shown.text), shown.text


def test_a_report_of_a_fork_reads_like_the_original() -> None:
    report = as_markdown(review(whole_stack(pools=3), whole_stack("prod"))).replace(MARKER, "")
    ours, theirs = Shown(report), Shown(of_a_stranger(report))
    assert theirs.text.replace("\N{ZERO WIDTH SPACE}", "") == ours.text.replace("\u200b", "")
    assert ours.links
    assert theirs.links == []
    assert of_a_colleague(report).replace("\u200b", "") == report.replace("\u200b", "")


def test_a_mermaid_diagram_keeps_its_colors() -> None:
    picture = "```mermaid\nflowchart\n  style a fill:#123456\n```\n"
    assert of_a_colleague(f"see #1\n\n{picture}") == f"see #\u200b1\n\n{picture}"
