"""The certainty of findings: mandatory rules report certain ones, advisory rules possible ones."""

from collections.abc import Iterable, Iterator
from enum import IntEnum


class Certainty(IntEnum):
    """Whether a condition holds. If several must hold, use the minimum."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2

    @classmethod
    def of(cls, holds: bool) -> "Certainty":
        return cls.CERTAIN if holds else cls.NO


# The certainty, the message, and the URN of a finding.
Weighed = tuple[Certainty, str, str]


def that_are(certainty: Certainty, weighed: Iterable[Weighed]) -> Iterator[tuple[str, str]]:
    """Yields the findings of exactly this certainty, as message and URN."""
    return ((message, urn) for actual, message, urn in weighed if actual is certainty)
