"""Letters that nobody sees, or that rule what others look like, made visible."""

import json
import re
import unicodedata
from collections.abc import Callable

# Control characters, marks of direction, joiners, tags, separators of lines, halves of letters.
# Line feeds and tabs are none of them here.
_RULING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SUSPECTS = re.compile(r"[^\n\t\x20-\x7e]")
# What colours text in a terminal, names its window, or links to somewhere: it has no letters.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    # One begins where another is to end: that one has no end, and none is looked for.
    r"|(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c\x9d\x90\x9e\x9f\x98]*"
    r"(?:\x07|\x1b\\|\x9c)",
)


def visible(text: str) -> str:
    """Text in which each of them is told by its code."""
    return _with_each(text, lambda letter: letter.encode("unicode_escape").decode())


def without_ruling(text: str) -> str:
    """Text without them, and without all that a terminal would take for a command."""
    return _with_each(_SEQUENCES.sub("", text), lambda _: "")


def escaped_in_json(text: str) -> str:
    """A JSON text that says the same without having any of them in it."""
    return _with_each(text, lambda letter: json.dumps(letter)[1:-1])


def _with_each(text: str, change: Callable[[str], str]) -> str:
    def changed(found: re.Match[str]) -> str:
        letter = found[0]
        return change(letter) if unicodedata.category(letter) in _RULING else letter

    return _SUSPECTS.sub(changed, text)
