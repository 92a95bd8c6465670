"""The commands that a page tells to type, as they stand there, and a clone to type them in."""

import re
import shutil
import subprocess
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from tests.bench import ROOT


class Block(NamedTuple):
    """Indented lines, and the sentence before them."""

    introduction: str
    lines: list[str]


def blocks(text: str) -> list[Block]:
    """All blocks of indented lines."""
    matches = re.finditer(r"(?P<introduction>[^\n]+\n)\n(?P<lines>(?:    .*\n)+)", text)
    return [
        Block(block["introduction"].strip(), dedent(block["lines"]).splitlines())
        for block in matches
    ]


def commands(text: str, introduction: str) -> list[str]:
    """The lines that follow a sentence, of which the end is enough."""
    [lines] = [block.lines for block in blocks(text) if block.introduction.endswith(introduction)]
    return lines


def clone(folder: Path) -> Path:
    """A clone as its user gets it, with what is not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],  # noqa: S607
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder
