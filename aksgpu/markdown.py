"""Foreign text in Markdown, in which it means nothing.

The standard library alone: `aksgpu.ci` runs without an installation.
"""

import re

from aksgpu.visible import visible

# By this line a workflow finds the comment that it has to update.
MARKER = "<!-- aks-gpu review -->"

# What Markdown, HTML and GitHub make something of. As entities they are letters and no more.
_RULING = str.maketrans({letter: f"&#{ord(letter)};" for letter in "&<>\"'`*_[]|~\\#@$"})
# What would become a link: its first letters stay apart.
_ADDRESS = re.compile(r"(?<=www)\.|:(?=//)", re.IGNORECASE)
# GitHub looks for mentions and references in what has been rendered: there an entity is a letter
# like any other, and only something invisible in between helps.
_REFERENCE = re.compile(r"(&#(?:64|35);)(?=\w)")
_SPACE = re.compile(r"\s+")


def escape(text: str, letters: int = 4000) -> str:
    """Foreign text in one line, in which nothing means anything."""
    # Of a very long text, no more than can be shown is looked at.
    line = visible(_SPACE.sub(" ", text[: letters * 2])).strip()
    if len(line) > letters:
        line = line[:letters] + "…"
    line = _ADDRESS.sub(lambda found: f"&#{ord(found[0])};", line.translate(_RULING))
    return _REFERENCE.sub("\\1\u200b", line)
