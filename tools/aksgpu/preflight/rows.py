"""The answers of a preflight: one row per question, for a pool or for the whole stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from aksgpu.outcome import Cause

Answer = Literal["ok", "warning", "problem", "unknown"]


@dataclass(frozen=True, kw_only=True)
class Row:
    """One question with its answer, and what to do about it."""

    question: str
    answer: Answer
    what: str
    advice: str = ""
    # Empty for the whole stack.
    pool: str = ""
    # The key in the stack file, such as gpuPools[1].vmSize.
    key: str = ""
    # Set if the answer makes the preflight fail.
    cause: Cause | None = None
    # The figures of `what`, for programs.
    figures: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        return {
            "pool": self.pool or None,
            "question": self.question,
            "answer": self.answer,
            "what": self.what,
            "advice": self.advice or None,
            "key": self.key or None,
            "cause": self.cause.word if self.cause else None,
            "figures": dict(self.figures),
        }


@dataclass(frozen=True)
class About:
    """A question for a pool or for the stack; its methods create the answers."""

    question: str
    pool: str = ""
    key: str = ""

    def ok(self, what: str, **figures: Any) -> Row:
        return self._row("ok", what, figures=figures)

    def warning(self, what: str, advice: str, **figures: Any) -> Row:
        return self._row("warning", what, advice=advice, figures=figures)

    def problem(self, cause: Cause, what: str, advice: str, **figures: Any) -> Row:
        return self._row("problem", what, advice=advice, cause=cause, figures=figures)

    def unknown(self, what: str, advice: str, cause: Cause | None = Cause.UNANSWERED) -> Row:
        return self._row("unknown", what, advice=advice, cause=cause)

    def _row(self, answer: Answer, what: str, **more: Any) -> Row:
        return Row(answer=answer, what=what, **vars(self), **more)
