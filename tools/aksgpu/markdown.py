"""Escapes untrusted text for Markdown."""

import re

from aksgpu.control_characters import visible

# Special characters of Markdown, HTML and GitHub, which become entities.
_SPECIAL = str.maketrans({letter: f"&#{ord(letter)};" for letter in "&<>\"'`*_[]|~\\#@$"})
# The start of what would become a link.
_ADDRESS = re.compile(r"(?<=www)\.|:(?=//)", re.IGNORECASE)
# GitHub looks for mentions and references in the rendered text, where an entity is an ordinary
# letter: only an invisible character in between prevents them.
_REFERENCE = re.compile(r"(&#(?:64|35);)(?=\w)")
_SPACE = re.compile(r"\s+")


def escape(text: str, letters: int = 4000) -> str:
    """Untrusted text on one line, without any markup."""
    # Do not process more of a very long text than can be shown.
    line = visible(_SPACE.sub(" ", text[: letters * 2])).strip()
    if len(line) > letters:
        line = line[:letters] + "…"
    line = _ADDRESS.sub(lambda match: f"&#{ord(match[0])};", line.translate(_SPECIAL))
    return _REFERENCE.sub("\\1\u200b", line)
