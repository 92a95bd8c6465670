"""`python -m tests.article`: the article both ways, and what came of them."""

from collections.abc import Callable

from aksgpu.entry import enter


def _article() -> Callable[[], object]:
    from tests.article.article import command  # noqa: PLC0415 (it takes a while)

    return command


if __name__ == "__main__":
    enter(_article)
