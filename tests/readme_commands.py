"""The commands that a README tells to type, as they stand there."""

import re
from typing import NamedTuple


class Block(NamedTuple):
    """Indented lines, and the sentence before them."""

    introduction: str
    lines: list[str]


def blocks(text: str) -> list[Block]:
    """All blocks of indented lines."""
    found = re.finditer(r"(?P<said>[^\n]+\n)\n(?P<lines>(?:    .*\n)+)", text)
    return [
        Block(block["said"].strip(), [line.strip() for line in block["lines"].splitlines()])
        for block in found
    ]


def commands(text: str, introduction: str) -> list[str]:
    """The lines that follow a sentence, of which the end is enough."""
    [lines] = [block.lines for block in blocks(text) if block.introduction.endswith(introduction)]
    return lines
