"""The words of a report, from its facts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from aksgpu.preflight.facts import Unanswered
from aksgpu.preflight.preflight import Preflight
from aksgpu.preflight.rows import Row
from aksgpu.review.judging import PolicyChange
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
LOST = "GPU pools that are lost or rotated"
POLICY_CHANGES = "The change modifies the policy configuration that it is reviewed with"
NOT_RUN = "Rules that could not run"
NOT_RUN_MEANING = "they need values that are not known before the update, so this review fails"
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
    unpriced = f" Without {', '.join(costs.unpriced)}: no price known." if costs.unpriced else ""
    rotating = (
        f"; up to {money(costs.rotating)} more while pools rotate" if costs.rotating.most else ""
    )
    return (
        f"By {costs.source} of {costs.asked_on}, the nodes cost {before} {costs.currency} an hour "
        f"before, and {after} after{rotating}.{unpriced}"
    )


def money(span: Span) -> str:
    least, most = (f"{float(end):,.2f}" for end in span)
    return least if least == most else f"{least} to {most}"


def preflight_rows(preflight: Preflight) -> list[Row]:
    """The answers that are not ok."""
    return [row for row in preflight.rows if row.answer != "ok"]


def change_in_words(change: PolicyChange) -> str:
    return f"{change.what}: {change.before} becomes {change.after}"


def asked_about(row: Row) -> str:
    return f"{row.pool or 'the whole stack'}, {row.question}"


def by_severity(findings: Iterable[Violation]) -> list[Violation]:
    """Most severe first; of the same severity, mandatory findings first."""
    return sorted(
        findings,
        key=lambda finding: (
            SEVERITIES.index(finding.severity) if finding.severity in SEVERITIES else -1,
            not finding.mandatory,
            finding.rule,
            finding.resource or Resource(""),
        ),
    )


def grouped(findings: Iterable[Violation]) -> list[tuple[Violation, str]]:
    """Merges findings that differ only by the resource; each has the list of its resources."""
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
    return ", ".join(f"{', '.join(of_kind)} ({kind})" for kind, of_kind in names.items())


def grade(finding: Violation) -> str:
    level = "mandatory" if finding.mandatory else "advisory"
    return f"{finding.severity or NO_SEVERITY}, {level}"


def where(resource: Resource | None) -> str:
    return f"{resource.name} ({resource.type})" if resource else "the whole stack"


def changes_in_words(stack: StackReview) -> str:
    """How many resources are created, updated and so on."""
    counts = Counter(change.kind for change in stack.changes)
    parts = [
        f"{counts[kind]} {CHANGE_WORDS[kind]}" for kind in reversed(CHANGE_KINDS) if counts[kind]
    ]
    return ", ".join([*parts, f"{stack.unchanged} unchanged"])


def gpu_rows(counts: Sequence[GpuCount]) -> list[tuple[str, ...]]:
    """The rows of the table of GPUs, with totals if there are several sizes."""
    rows = [(size, *map(_span, spans)) for size, *spans in counts]
    if len(rows) > 1:
        rows.append(("all", "", "", *map(_span, total(counts))))
    return rows


def _span(span: Span | None) -> str:
    return "unknown" if span is None else str(span)
