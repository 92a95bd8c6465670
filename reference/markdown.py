"""Markdown, as the pages need it."""

from collections.abc import Iterable, Sequence

_MADE = "<!-- Made from the code by `make docs`. Edit the code, not this page. -->"


def sections(title: str, *texts: str) -> str:
    """A page: a title, and texts with an empty line between them."""
    return "\n\n".join([f"# {title}", _MADE, *filter(None, texts)]) + "\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, or nothing if it has no rows."""
    lines = list(map(_row, rows))
    return "\n".join([_row(head), "|---" * len(head) + "|", *lines]) if lines else ""


def code(text: object) -> str:
    """A piece of code, or nothing."""
    return f"`{text}`" if str(text) else ""


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"
