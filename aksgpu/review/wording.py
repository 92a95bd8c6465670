"""What all formats that people read say in the same words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.rows import Row
from aksgpu.review.judging import Brought
from aksgpu.review.model import (
    CHANGE_KINDS,
    CHANGE_WORDS,
    SEVERITIES,
    Costs,
    GpuCount,
    Resource,
    Span,
    StackReview,
    Violation,
)
from aksgpu.review.pools import total

NO_SEVERITY = "no severity"
LOST = "GPU pools that go"
BROUGHT = "The change brings what it is judged by"
NOT_RUN = "Rules that could not run"
NOT_RUN_MEANING = "whether they hold is not known before the update, and so this review fails"
NO_CHANGES = "Nothing changes."
NO_GPUS = "There are no GPU pools, neither before nor after."
GPUS_NOT_KNOWN = "The preview failed: the number of GPUs after the change is not known."
GPU_HEADINGS = ("size", "nodes before", "nodes after", "GPUs before", "GPUs after")


def preflight_result(preflight: Preflight) -> str:
    return f"Preflight: {preflight.verdict.meaning}."


def costs_in_words(costs: Costs | Unanswered) -> str:
    """What the nodes cost an hour, before and after."""
    if isinstance(costs, Unanswered):
        return f"What the nodes cost is not known: {costs.reason}."
    before, after = (money(span) for span in (costs.before, costs.after))
    without = f" {', '.join(costs.unpriced)} left out: no price is known." if costs.unpriced else ""
    return (
        f"By {costs.source} of {costs.asked_on}, the nodes cost {before} {costs.currency} an hour "
        f"before, and {after} after.{without}"
    )


def money(span: Span) -> str:
    least, most = (f"{float(end):,.2f}" for end in span)
    return least if least == most else f"{least} to {most}"


def preflight_rows(preflight: Preflight) -> list[Row]:
    """What is worth a word of its answers: all that are not simply right."""
    return [row for row in preflight.rows if row.answer != "ok"]


def brought_in_words(brought: Brought) -> str:
    return f"{brought.what}: {brought.before} becomes {brought.after}"


def asked_about(row: Row) -> str:
    return f"{row.pool or 'the whole stack'}, {row.question}"


def by_severity(findings: Iterable[Violation]) -> list[Violation]:
    """Most urgent first, and the mandatory ones first among their like."""
    return sorted(
        findings,
        key=lambda finding: (
            SEVERITIES.index(finding.severity) if finding.severity in SEVERITIES else -1,
            not finding.mandatory,
            finding.rule,
            finding.resource or Resource(""),
        ),
    )


def alike(findings: Iterable[Violation]) -> list[tuple[Violation, str]]:
    """Findings that differ in nothing but the resource are told once, with all of these."""
    places: dict[Violation, list[Resource | None]] = {}
    for finding in findings:
        places.setdefault(replace(finding, resource=None), []).append(finding.resource)
    return [(finding, _all_of(resources)) for finding, resources in places.items()]


def _all_of(resources: Iterable[Resource | None]) -> str:
    names: dict[str, list[str]] = {}
    for resource in resources:
        if resource is None:
            return where(None)
        names.setdefault(resource.type, []).append(resource.name)
    return ", ".join(f"{', '.join(there)} ({kind})" for kind, there in names.items())


def grade(finding: Violation) -> str:
    level = "mandatory" if finding.mandatory else "advisory"
    return f"{finding.severity or NO_SEVERITY}, {level}"


def where(resource: Resource | None) -> str:
    return f"{resource.name} ({resource.type})" if resource else "the whole stack"


def changes_in_words(stack: StackReview) -> str:
    """How many resources become what."""
    numbers = Counter(change.kind for change in stack.changes)
    counted = [
        f"{numbers[kind]} {CHANGE_WORDS[kind]}" for kind in reversed(CHANGE_KINDS) if numbers[kind]
    ]
    return ", ".join([*counted, f"{stack.unchanged} unchanged"])


def gpu_rows(counts: Sequence[GpuCount]) -> list[tuple[str, ...]]:
    """The table of GPUs, with a line of all where there are several sizes."""
    rows = [(size, *map(_span, spans)) for size, *spans in counts]
    if len(rows) > 1:
        rows.append(("all", "", "", *map(_span, total(counts))))
    return rows


def _span(known: Span | None) -> str:
    return "unknown" if known is None else str(known)
