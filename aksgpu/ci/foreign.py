"""Foreign files, and foreign Markdown as it may be shown: it calls nobody, and points nowhere.

GitHub looks for mentions and references in what has been rendered, and a letter can be written in
many ways. So a text is read here as what it is rendered to, and something invisible is put where
a reference would begin.
"""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

MOST_BYTES = 8_000_000
_INVISIBLE = "\N{ZERO WIDTH SPACE}"

# One letter of what is rendered: an entity, a letter after a backslash, or in an address by its
# code; or itself.
_ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31})"
_OTHER = r"\\[!-/:-@\[-`{-~]|(?:%[0-9a-fA-F]{2})+|."
# HTML knows some entities without their end, which Markdown takes for what is written.
_LETTERS = [re.compile(f"{_ENTITY}{end}|{_OTHER}", re.DOTALL) for end in (";", ";?")]
# What may stand between two letters without being seen.
_MARKUP = r"[*_~`\[\]]*"
# Each with what the invisible is put behind.
_CALLS = re.compile(
    rf"@(?={_MARKUP}\w)|\#(?={_MARKUP}\d)|\b(?:GH|GHSA)(?={_MARKUP}-{_MARKUP}\w)"
    r"|/(?=(?:commits?|compare|discussions|issues|pulls?|advisories)\b)",
    re.IGNORECASE,
)
# Of strangers no link is shown, whatever makes one: addresses, brackets, tags.
_LINKS = re.compile(r":(?=//)|www(?=\.)|\](?=[(\[:])|(?:mailto|xmpp)(?=:)", re.IGNORECASE)
_ANCHOR = re.compile(r"</?a\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<(?!(?:br|/?details|/?summary)>)")
_PICTURE = re.compile(r"^```mermaid\n.*?^```$", re.DOTALL | re.MULTILINE)


def read_json(file: Path) -> Any:
    """What a file of an artifact says; None where it cannot be read."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
        return None
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None


def of_a_stranger(text: str) -> str:
    """Markdown without links and without HTML but that of our reports."""
    return _broken(_TAG.sub("&lt;", _ANCHOR.sub("", text)), _CALLS, _LINKS)


def of_a_colleague(text: str) -> str:
    """Markdown of somebody who may write to the repository: links stay, and pictures."""
    parts, end = [], 0
    for picture in _PICTURE.finditer(text):
        parts += [_broken(text[end : picture.start()], _CALLS), picture[0]]
        end = picture.end()
    return "".join([*parts, _broken(text[end:], _CALLS)])


def plain(text: str) -> str:
    """A text that no reader takes for Markdown: no links, calls or control characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return _broken(re.sub(r"([\\\[\]])", r"\\\1", line), _CALLS, _LINKS)


def _broken(text: str, *kinds: re.Pattern[str]) -> str:
    """The text with something invisible behind each of those."""
    places = set[int]()
    for letter in _LETTERS:
        ends, rendered = list[int](), list[str]()
        for end, letters in _letters(letter, text):
            rendered.append(letters)
            ends += [end] * len(letters)
        shown = "".join(rendered)
        places |= {ends[found.end() - 1] for kind in kinds for found in kind.finditer(shown)}
    parts, start = [], 0
    for place in sorted(places):
        parts += [text[start:place], _INVISIBLE]
        start = place
    return "".join([*parts, text[start:]])


def _letters(letter: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """What is rendered, with where it ends in the text."""
    for found in letter.finditer(text):
        written = found[0]
        if written.startswith("&") and len(written) > 1:
            yield found.end(), html.unescape(written)
        elif written.startswith("%") and len(written) > 1:
            yield found.end(), unquote(written)
        else:
            yield found.end(), written[-1]
