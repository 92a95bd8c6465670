"""Makes invisible and control characters visible."""

import re
import unicodedata
from collections.abc import Callable

# Categories of control and format characters, surrogates, and separators of lines and paragraphs.
# Line feeds and tabs are allowed.
_CONTROL = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_SUSPECTS = re.compile(r"[^\n\t\x20-\x7e]")
# Escape sequences that color text in a terminal, name its window, or add a link.
_SEQUENCES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    # A sequence that contains the start of another one is not complete.
    r"|(?:\x1b[\]P^_X]|[\x9d\x90\x9e\x9f\x98])[^\x07\x1b\x9c\x9d\x90\x9e\x9f\x98]*"
    r"(?:\x07|\x1b\\|\x9c)",
)


def visible(text: str) -> str:
    """The text with such characters escaped."""
    return _with_each(text, lambda letter: letter.encode("unicode_escape").decode())


def without_control_characters(text: str) -> str:
    """The text without such characters, and without escape sequences for terminals."""
    return _with_each(_SEQUENCES.sub("", text), lambda _: "")


def _with_each(text: str, change: Callable[[str], str]) -> str:
    def changed(match: re.Match[str]) -> str:
        letter = match[0]
        return change(letter) if unicodedata.category(letter) in _CONTROL else letter

    return _SUSPECTS.sub(changed, text)
