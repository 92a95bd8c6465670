"""Untrusted files and Markdown, made safe to show: no mentions, no references, no links.

GitHub looks for mentions and references in the rendered text, and Markdown can write a letter in
many ways. So this reads a text as it is rendered, and inserts an invisible character where a
reference would start.
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

# One rendered letter: an entity, a letter after a backslash, a percent-encoded one, or itself.
_ENTITY = r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31})"
_OTHER = r"\\[!-/:-@\[-`{-~]|(?:%[0-9a-fA-F]{2})+|."
# HTML accepts some entities without the semicolon; Markdown does not.
_LETTERS = [re.compile(f"{_ENTITY}{end}|{_OTHER}", re.DOTALL) for end in (";", ";?")]
# Invisible markup between two letters.
_MARKUP = r"[*_~`\[\]]*"
# Mentions and references; the invisible character goes after the match.
_CALLS = re.compile(
    rf"@(?={_MARKUP}\w)|\#(?={_MARKUP}\d)|\b(?:GH|GHSA)(?={_MARKUP}-{_MARKUP}\w)"
    r"|/(?=(?:commits?|compare|discussions|issues|pulls?|advisories)\b)",
    re.IGNORECASE,
)
# Links in untrusted text: addresses, brackets, tags.
_LINKS = re.compile(r":(?=//)|www(?=\.)|\](?=[(\[:])|(?:mailto|xmpp)(?=:)", re.IGNORECASE)
_ANCHOR = re.compile(r"</?a\b[^>]*>", re.IGNORECASE)
_TAG = re.compile(r"<(?!(?:br|/?details|/?summary)>)")
_PICTURE = re.compile(r"^```mermaid\n.*?^```$", re.DOTALL | re.MULTILINE)


def read_json(file: Path) -> Any:
    """The JSON in a file of an artifact; None if it cannot be read."""
    if file.is_symlink() or not file.is_file() or file.stat().st_size > MOST_BYTES:
        return None
    try:
        return json.loads(file.read_bytes())
    except (ValueError, RecursionError):
        return None


def of_a_stranger(text: str) -> str:
    """Markdown from a fork, without links, and only with the HTML tags of our reports."""
    return _broken(_TAG.sub("&lt;", _ANCHOR.sub("", text)), _CALLS, _LINKS)


def of_a_colleague(text: str) -> str:
    """Markdown from somebody with write access: links and diagrams stay."""
    parts, end = [], 0
    for picture in _PICTURE.finditer(text):
        parts += [_broken(text[end : picture.start()], _CALLS), picture[0]]
        end = picture.end()
    return "".join([*parts, _broken(text[end:], _CALLS)])


def plain(text: str) -> str:
    """A plain text: without links, mentions, references and control characters."""
    line = "".join(letter if letter.isprintable() else " " for letter in text)
    return _broken(re.sub(r"([\\\[\]])", r"\\\1", line), _CALLS, _LINKS)


def _broken(text: str, *kinds: re.Pattern[str]) -> str:
    """The text with an invisible character after each match."""
    places = set[int]()
    for letter in _LETTERS:
        ends, rendered = list[int](), list[str]()
        for end, letters in _letters(letter, text):
            rendered.append(letters)
            ends += [end] * len(letters)
        whole = "".join(rendered)
        places |= {ends[match.end() - 1] for kind in kinds for match in kind.finditer(whole)}
    parts, start = [], 0
    for place in sorted(places):
        parts += [text[start:place], _INVISIBLE]
        start = place
    return "".join([*parts, text[start:]])


def _letters(letter: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """The rendered letters, each with its end in the text."""
    for match in letter.finditer(text):
        source = match[0]
        if source.startswith("&") and len(source) > 1:
            yield match.end(), html.unescape(source)
        elif source.startswith("%") and len(source) > 1:
            yield match.end(), unquote(source)
        else:
            yield match.end(), source[-1]
