"""The review of a fork as a comment, built from the fields of its JSON report.

The report is untrusted: the code of the fork wrote it. Fields of the wrong type are omitted. Texts
are shortened and escaped for Markdown.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from aksgpu.markdown import escape
from aksgpu.outcome import Cause

# GitHub accepts 65 536 characters, and a line about the run is added.
_LONGEST = 60_000
_MOST_STACKS, _MOST_ITEMS, _MOST_LETTERS = 20, 20, 300
_LARGEST = 1_000_000
_OK, _NOT_OK = "✅", "❌"
_CAUSES = {cause.word: cause for cause in Cause}
_CHANGES = ("delete", "replace", "update", "import", "create")
_COUNTS = ("nodes", "gpus")


@dataclass(frozen=True)
class Fields:
    """An untrusted value, with readers that check types."""

    value: Any

    def at(self, *path: str) -> "Fields":
        value = self.value
        for name in path:
            value = value.get(name) if isinstance(value, dict) else None
        return Fields(value)

    def text(self, *path: str) -> str:
        """A string, escaped for Markdown; empty for any other value."""
        value = self.at(*path).value
        return escape(value, _MOST_LETTERS) if isinstance(value, str) else ""

    def number(self, *path: str) -> str:
        value = self.at(*path).value
        is_number = type(value) in (int, float) and 0 <= value <= _LARGEST
        return f"{value:g}" if is_number else "unknown"

    def is_true(self, *path: str) -> bool:
        return self.at(*path).value is True

    def cause(self) -> Cause | None:
        value = self.at("cause").value
        return _CAUSES.get(value) if isinstance(value, str) else None

    def items(self, *path: str) -> list["Fields"]:
        value = self.at(*path).value
        return [Fields(item) for item in value] if isinstance(value, list) else []


def from_document(document: Any) -> str:
    """The Markdown of a report, as far as it fits."""
    lines, length = list[str](), 0
    for line in _report(Fields(document)):
        length += len(line) + 1
        if length > _LONGEST:
            lines.append("\n… The rest does not fit; the run's artifacts have all of it.")
            break
        lines.append(line)
    return "\n".join(lines)


def _report(review: Fields) -> Iterator[str]:
    cause = review.cause()
    yield f"## {_sign(cause)} GPU review: {_word(cause)}"
    yield f"\n{cause.sentence.capitalize()}." if cause else ""
    yield from _some(review.items("stacks"), _MOST_STACKS, _stack, "stacks")


def _stack(stack: Fields) -> Iterator[str]:
    cause = stack.cause()
    yield f"\n### {_sign(cause)} Stack {stack.text('stack')}: {_word(cause)}"
    yield from _list("", stack.items("problems"), _problem)
    brought = stack.items("judging", "brought")
    yield from _list(
        "The change modifies the policy configuration that it is reviewed with", brought, _brought
    )
    yield from _list("GPU pools that are lost or rotated", stack.items("lostGpuPools"), _lost)
    findings = stack.items("findings")
    broken = [finding for finding in findings if finding.is_true("mandatory")]
    advice = [finding for finding in findings if not finding.is_true("mandatory")]
    yield from _list("Rules that are broken", broken, _finding)
    yield from _list("Advice", advice, _finding)
    yield from _list("Rules that could not run", stack.items("rulesNotRun"), _not_run)
    if preflight := stack.at("preflight").cause():
        yield f"\nPreflight: {preflight.meaning}."
    if gpus := stack.items("gpus"):
        yield "\n| size | nodes before | nodes after | GPUs before | GPUs after |"
        yield "| --- | --- | --- | --- | --- |"
        yield from _some(gpus, _MOST_ITEMS, _gpus, "sizes")
    counted = ((kind, len(stack.items("changes", kind))) for kind in _CHANGES)
    changes = [f"{number} to {kind}" for kind, number in counted if number]
    yield f"\nChanges: {', '.join([*changes, stack.number('unchanged') + ' unchanged'])}."


def _problem(problem: Fields) -> str:
    line = problem.number("line")
    place = f" (line {line})" if line != "unknown" else ""
    key = problem.text("key")
    what = f"**{key}{place}**: {problem.text('what')}" if key else problem.text("what") + place
    return f"- {_NOT_OK} {what}<br>→ {problem.text('advice')}"


def _brought(brought: Fields) -> str:
    before, after = brought.text("before"), brought.text("after")
    return f"- {brought.text('what')}: {before} becomes {after}"


def _lost(lost: Fields) -> str:
    sign = _OK if lost.is_true("allowed") else _NOT_OK
    return f"- {sign} {lost.text('message')}<br>→ {lost.text('remedy')}"


def _finding(finding: Fields) -> str:
    severity = finding.text("severity") or "no severity"
    heading = f"- **{severity}** · {finding.text('rule')} · {_where(finding)}"
    return "<br>".join(filter(None, [heading, finding.text("message"), finding.text("remedy")]))


def _not_run(rule: Fields) -> str:
    return f"- {_NOT_OK} {rule.text('rule')}: {_where(rule)}<br>{rule.text('why')}"


def _where(finding: Fields) -> str:
    name, kind = finding.text("resource", "name"), finding.text("resource", "type")
    return f"{name} ({kind})" if name else "the whole stack"


def _gpus(count: Fields) -> Iterator[str]:
    cells = [_span(count.at(what, when)) for what in _COUNTS for when in ("before", "after")]
    yield f"| {' | '.join([count.text('vmSize'), *cells])} |"


def _span(span: Fields) -> str:
    least, most = span.number("min"), span.number("max")
    return least if least == most else f"{least} to {most}"


def _sign(cause: Cause | None) -> str:
    return _NOT_OK if cause is None or cause.is_problem else _OK


def _word(cause: Cause | None) -> str:
    return cause.word if cause else "not known"


def _list(title: str, items: list[Fields], line: Callable[[Fields], str]) -> Iterator[str]:
    if items:
        yield f"\n**{title}**\n" if title else ""
    yield from _some(items, _MOST_ITEMS, lambda item: iter([line(item)]), "of them")


def _some(
    items: list[Fields], most: int, lines: Callable[[Fields], Iterator[str]], what: str
) -> Iterator[str]:
    for item in items[:most]:
        yield from lines(item)
    if (left := len(items) - most) > 0:
        yield f"\n… and {left} more {what}."
