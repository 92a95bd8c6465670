"""Names that no other test uses, so that tests can share a cloud and run in any order."""

import itertools

# One counter for all: two files of tests that share a cloud cannot make the same name.
_numbers = itertools.count(1)


def unique(word: str) -> str:
    """The word with a number behind it. No such name is the beginning of another one."""
    return f"{word}{next(_numbers):05}"
