"""How sure a rule is. A mandatory one refuses what is certain; what is possible is told."""

from collections.abc import Iterable, Iterator
from enum import IntEnum


class Certainty(IntEnum):
    """Whether something holds; of things that have to hold together, the least."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2

    @classmethod
    def of(cls, holds: bool) -> "Certainty":
        return cls.CERTAIN if holds else cls.NO


# How sure it is, what is wrong, and with which resource.
Weighed = tuple[Certainty, str, str]


def that_are(certainty: Certainty, weighed: Iterable[Weighed]) -> Iterator[tuple[str, str]]:
    """The findings of which a rule is as sure as that."""
    return ((message, urn) for found, message, urn in weighed if found is certainty)
