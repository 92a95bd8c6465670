"""The worst findings as commands of GitHub's workflows, which mark their lines in the change."""

from collections.abc import Iterator
from itertools import islice
from typing import Literal, NamedTuple

from aksgpu.control_characters import visible
from aksgpu.review import wording
from aksgpu.review.model import Review, StackReview

# GitHub shows as many of one step.
_MOST = 10


class _Annotation(NamedTuple):
    level: Literal["error", "warning"]
    title: str
    text: str
    # A finding without a line is shown at the file.
    line: int | None

    def command(self, file: str) -> str:
        place = {"file": file, "line": self.line, "title": self.title}
        values = ",".join(
            f"{name}={_escaped(str(value), ':,')}" for name, value in place.items() if value
        )
        return f"::{self.level} {values}::{_escaped(visible(self.text))}\n"


def as_annotations(review: Review) -> str:
    """The errors of all stacks, and then the warnings."""
    found = [(stack.file, each) for stack in review.stacks for each in _annotations(stack)]
    found.sort(key=lambda pair: pair[1].level != "error")
    return "".join(annotation.command(file) for file, annotation in islice(found, _MOST))


def _annotations(stack: StackReview) -> Iterator[_Annotation]:
    for problem in stack.problems:
        text = f"{problem} ({problem.advice})"
        line = problem.line or stack.lines.get(problem.key)
        yield _Annotation("error", problem.cause.word, text, line)
    for lost in stack.lost:
        if not lost.allowed:
            line = stack.line_of(lost.resource)
            yield _Annotation("error", "gpu-pool-lost", f"{lost.message} {lost.remedy}", line)
    for finding in stack.findings:
        text = f"{wording.where(finding.resource)}: {finding.message} {finding.remedy}"
        level: Literal["error", "warning"] = "error" if finding.mandatory else "warning"
        yield _Annotation(level, finding.rule, text, stack.line_of(finding.resource))
    for rule in stack.not_run:
        text = f"{wording.where(rule.resource)}: this rule could not run: {rule.why}"
        yield _Annotation("error", rule.rule, text, stack.line_of(rule.resource))
    for row in wording.preflight_rows(stack.preflight) if stack.preflight else ():
        text = f"{wording.asked_about(row)}: {row.what} {row.advice}"
        yield _Annotation(
            "error" if row.cause else "warning", "preflight", text, stack.lines.get(row.key)
        )


def _escaped(text: str, more: str = "") -> str:
    """A text without the characters that would end a part of the command."""
    return "".join(
        f"%{ord(letter):02X}" if letter in f"%\r\n{more}" else letter for letter in text.strip()
    )
