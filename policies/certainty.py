"""The certainty of findings: mandatory rules report certain ones, advisory rules possible ones."""

from enum import IntEnum


class Certainty(IntEnum):
    """Whether a condition holds. If several must hold, use the minimum."""

    NO = 0
    POSSIBLE = 1
    CERTAIN = 2

    @classmethod
    def of(cls, holds: bool | None) -> "Certainty":
        """Returns the certainty of what holds, does not, or is not known (None)."""
        return cls.POSSIBLE if holds is None else cls.CERTAIN if holds else cls.NO


# The certainty, the message, and the URN of a finding.
StackFinding = tuple[Certainty, str, str]
