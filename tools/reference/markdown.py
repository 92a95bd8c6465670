"""Markdown, as the pages need it."""

import re
from collections.abc import Iterable, Iterator, Sequence

Row = tuple[str, ...]
_MADE = "<!-- Made from the code by `make docs`. Edit the code, not this page. -->"


def sections(title: str, *texts: str) -> str:
    """A page: a title, and texts with an empty line between them."""
    return "\n\n".join([f"# {title}", _MADE, *filter(None, texts)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing if it has no rows."""
    lines = list(map(_row, rows))
    return "\n".join([_row(head), "|---" * len(head) + "|", *lines]) if lines else ""


class Tables:
    """The tables of a page: a row that two of them have alike stands in one of them."""

    def __init__(self) -> None:
        # The name and the heading of the table that has a row.
        self._owners: dict[Row, tuple[str, str]] = {}

    def claim(self, name: str, heading: str, rows: Iterable[Row]) -> None:
        """Lets a table have these rows, unless another one has them."""
        for row in rows:
            self._owners.setdefault(row, (name, heading))

    def table(
        self, name: str, heading: str, head: Sequence[str], rows: Sequence[Row]
    ) -> Iterator[str]:
        """The table of a name, and a line for each table that has more of its rows."""
        self.claim(name, heading, rows)
        elsewhere: dict[tuple[str, str], list[str]] = {}
        own = []
        for row in rows:
            if self._owners[row] == (name, heading):
                own.append(row)
            else:
                elsewhere.setdefault(self._owners[row], []).append(row[0])
        yield table(head, own)
        for (other, anchor), names in elsewhere.items():
            others = "And as" if own else "As"
            yield f"{others} in [{code(other)}](#{anchor}): {', '.join(names)}."


def code(text: object) -> str:
    """A piece of code, or nothing."""
    return f"`{text}`" if str(text) else ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    """A text on one line, in which a page of docs/ is a link."""
    linked = re.sub(r"\bdocs/([\w-]+)\.md", r"[\1](../\1.md)", " ".join(text.split()))
    return linked.replace("|", r"\|")
