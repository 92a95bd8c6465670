"""The report as JSON, for programs: all facts."""

from typing import Any

from aksgpu import report
from aksgpu.preflight.facts import Unanswered
from aksgpu.review.judging import Judging
from aksgpu.review.model import (
    CHANGE_KINDS,
    Costs,
    GpuCount,
    LostPool,
    NotRun,
    PoolChange,
    PoolState,
    Resource,
    Review,
    Span,
    StackReview,
    Violation,
)


def as_json(review: Review) -> str:
    document = {
        # Raise it when a key changes its meaning or is removed.
        "version": 2,
        **review.verdict.document(),
        "offline": review.offline,
        "base": review.base or None,
        "stacks": [_stack(stack) for stack in review.stacks],
    }
    return report.as_json(document)


def _stack(stack: StackReview) -> dict[str, Any]:
    return {
        "stack": stack.stack,
        "file": stack.file,
        "cause": stack.verdict.word,
        "exitCode": stack.verdict.exit_code,
        "notes": stack.notes,
        "problems": [
            {
                "cause": problem.cause.word,
                "key": problem.key or None,
                "line": problem.line or stack.lines.get(problem.key),
                "column": problem.column,
                "what": problem.what,
                "advice": problem.advice,
            }
            for problem in stack.problems
        ],
        "judging": _judging(stack.judging) if stack.judging else None,
        "lostGpuPools": [_lost(stack, lost) for lost in stack.lost],
        "findings": [_finding(stack, finding) for finding in stack.findings],
        "rulesNotRun": [_not_run(stack, rule) for rule in stack.not_run],
        "preflight": stack.preflight.to_json() if stack.preflight else None,
        "gpus": None if stack.gpus is None else [_gpus(count) for count in stack.gpus],
        "pools": [_pool(pool) for pool in stack.pools],
        "costs": _costs(stack.costs),
        "changes": {
            kind: [
                {**_resource(change.resource), "properties": list(change.properties)}
                for change in stack.changes
                if change.kind == kind
            ]
            for kind in CHANGE_KINDS
        },
        "unchanged": stack.unchanged,
    }


def _judging(judging: Judging) -> dict[str, Any]:
    """The changes to the policy configuration, and whether they apply."""
    return {
        "brought": [brought._asdict() for brought in judging.brought],
        "allowance": str(judging.allowance),
        "counts": judging.allowed,
    }


def _resource(resource: Resource | None) -> dict[str, Any]:
    if resource is None:
        return {"urn": None, "type": None, "name": None}
    return {"urn": resource.urn, "type": resource.type, "name": resource.name}


def _lost(stack: StackReview, lost: LostPool) -> dict[str, Any]:
    return {
        "pool": lost.pool,
        "change": lost.kind,
        "allowed": lost.allowed,
        "allowance": str(lost.allowance),
        "resource": _resource(lost.resource),
        "line": stack.line_of(lost.resource),
        "message": lost.message,
        "remedy": lost.remedy,
    }


def _finding(stack: StackReview, finding: Violation) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "pack": finding.pack,
        "severity": finding.severity or None,
        "mandatory": finding.mandatory,
        "resource": _resource(finding.resource),
        "line": stack.line_of(finding.resource),
        "message": finding.message,
        "remedy": finding.remedy or None,
        "url": finding.url or None,
    }


def _not_run(stack: StackReview, rule: NotRun) -> dict[str, Any]:
    return {
        "rule": rule.rule,
        "pack": rule.pack,
        "resource": _resource(rule.resource),
        "line": stack.line_of(rule.resource),
        "why": rule.why,
    }


def _gpus(count: GpuCount) -> dict[str, Any]:
    return {
        "vmSize": count.vm_size,
        "nodes": {"before": _span(count.nodes_before), "after": _span(count.nodes_after)},
        "gpus": {"before": _span(count.gpus_before), "after": _span(count.gpus_after)},
    }


def _pool(pool: PoolChange) -> dict[str, Any]:
    return {
        "pool": pool.pool,
        "resource": _resource(pool.resource),
        "becomes": pool.becomes or None,
        "before": [_state(state) for state in pool.before],
        "after": [_state(state) for state in pool.after],
    }


def _state(state: PoolState) -> dict[str, Any]:
    return {"vmSize": state.vm_size, "nodes": _span(state.nodes), "gpus": _span(state.gpus)}


def _costs(costs: Costs | Unanswered | None) -> dict[str, Any] | None:
    """What the nodes cost an hour, or why that is not known."""
    if costs is None:
        return None
    if isinstance(costs, Unanswered):
        return {"hourly": None, "unavailable": costs.reason}
    return {
        "hourly": {
            "before": _span(costs.before),
            "after": _span(costs.after),
            "rotating": _span(costs.rotating),
        },
        "unavailable": None,
        "currency": costs.currency,
        "source": costs.source,
        "askedOn": costs.asked_on.isoformat(),
        "unpriced": list(costs.unpriced),
    }


def _span(span: Span | None) -> dict[str, float] | None:
    if span is None:
        return None
    least, most = (int(end) if end.denominator == 1 else float(end) for end in span)
    return {"min": least, "max": most}
