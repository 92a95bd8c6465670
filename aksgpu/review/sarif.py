"""The report as SARIF 2.1.0, for code scanning: what stands against a stack, at its place."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from aksgpu.report import as_json
from aksgpu.review import wording
from aksgpu.review.model import LOSSES, Resource, Review, StackReview
from aksgpu.review.rules import RuleFacts, facts_of

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

# What the review itself finds, beside the rules of a pack.
_OWN: Mapping[str, RuleFacts] = {
    "gpu-pool-replaced": RuleFacts(
        description="A GPU pool is replaced.",
        remedy="Take the change back, or allow it with --allow-replace.",
    ),
    "gpu-pool-deleted": RuleFacts(
        description="A GPU pool is deleted.",
        remedy="Take the change back, or allow it with --allow-replace.",
    ),
    "gpu-pool-resized": RuleFacts(
        description="A GPU pool is to lose its machines of a size.",
        remedy="Take the change back, or allow it with --allow-replace.",
    ),
    "gpu-pool-forgotten": RuleFacts(
        description="A cluster no longer names a GPU pool that it has.",
        remedy="Take the change back, or allow it with --allow-replace.",
    ),
    "preflight": RuleFacts(
        description="Azure would not take a stack as it is.",
        remedy="Do what the message says; `aksgpu preflight` asks again.",
    ),
    "rule-not-run": RuleFacts(
        description="A rule could not run, since it needs a value not known before the update.",
        remedy="Give the value in the stack file, or let the rule do without it.",
    ),
    "stack-not-reviewed": RuleFacts(
        description="A stack could not be reviewed to its end.",
        remedy="Do what the message says, and run the review again.",
    ),
}


@dataclass(frozen=True, kw_only=True)
class _Result:
    rule: str
    level: str
    message: str
    # What it is about, in words that stay the same from run to run.
    about: str
    line: int
    facts: RuleFacts


def as_sarif(review: Review) -> str:
    results = [(stack, result) for stack in review.stacks for result in _results(stack)]
    rules = {result.rule: result.facts for _, result in results}
    order = sorted(rules)
    run = {
        "tool": {
            "driver": {
                "name": "aks-gpu review",
                "version": version("aks-gpu"),
                "rules": [_rule(name, rules[name]) for name in order],
            }
        },
        "invocations": [_invocation(review)],
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": result.rule,
                "ruleIndex": order.index(result.rule),
                "level": result.level,
                "message": {"text": f"{stack.stack}: {result.message}"},
                "locations": [_location(stack, result)],
                "partialFingerprints": {"aksGpuReview/v1": _fingerprint(stack, result)},
            }
            for stack, result in results
        ],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return as_json(log)


def _results(stack: StackReview) -> Iterator[_Result]:
    yield from _own_results(stack)
    for finding in stack.findings:
        yield _Result(
            rule=finding.rule,
            level="error" if finding.mandatory else "warning",
            message=_about(finding.resource, f"{finding.message} {finding.remedy}"),
            about=f"{finding.pack}|{_urn(finding.resource)}|{finding.message}",
            line=_line(stack, finding.resource),
            facts=facts_of(finding.rule, finding.pack),
        )
    for not_run in stack.not_run:
        yield _Result(
            rule="rule-not-run",
            level="error",
            message=_about(not_run.resource, f"{not_run.rule} could not run: {not_run.why}"),
            about=f"{not_run.pack}|{not_run.rule}|{_urn(not_run.resource)}",
            line=_line(stack, not_run.resource),
            facts=_OWN["rule-not-run"],
        )


def _own_results(stack: StackReview) -> Iterator[_Result]:
    for problem in stack.problems:
        yield _Result(
            rule="stack-not-reviewed",
            level="error",
            message=f"{problem.key + ': ' if problem.key else ''}{problem.what}",
            about=f"{problem.cause.word}|{problem.key}",
            line=stack.lines.get(problem.key, 1),
            facts=_OWN["stack-not-reviewed"],
        )
    for lost in stack.lost:
        rule = f"gpu-pool-{LOSSES[lost.kind][0]}"
        yield _Result(
            rule=rule,
            level="note" if lost.allowed else "error",
            message=f"{lost.message} {lost.remedy}",
            about=f"{lost.resource.urn}|{lost.pool}",
            line=_line(stack, lost.resource),
            facts=_OWN[rule],
        )
    for row in wording.preflight_rows(stack.preflight) if stack.preflight else ():
        yield _Result(
            rule="preflight",
            level="error" if row.cause else "warning",
            message=f"{wording.asked_about(row)}: {row.what} {row.advice}".rstrip(),
            about=f"{row.pool}|{row.question}",
            line=stack.lines.get(row.key, 1),
            facts=_OWN["preflight"],
        )


def _about(resource: Resource | None, message: str) -> str:
    return f"{wording.where(resource)}: {message.strip()}"


def _urn(resource: Resource | None) -> str:
    return resource.urn if resource else ""


def _line(stack: StackReview, resource: Resource | None) -> int:
    return stack.lines.get(resource.urn, 1) if resource else 1


def _rule(name: str, facts: RuleFacts) -> dict[str, Any]:
    description = facts.description or name
    rule: dict[str, Any] = {"id": name, "shortDescription": {"text": description}}
    if facts.remedy:
        rule["help"] = {"text": facts.remedy}
    if facts.url:
        rule["helpUri"] = facts.url
    properties: dict[str, Any] = {}
    if facts.tags:
        properties["tags"] = list(dict.fromkeys(facts.tags))
    if facts.severity:
        properties["severity"] = facts.severity
    return rule | ({"properties": properties} if properties else {})


def _invocation(review: Review) -> dict[str, Any]:
    problems = [problem for stack in review.stacks for problem in stack.problems]
    invocation: dict[str, Any] = {
        "executionSuccessful": not problems,
        "exitCode": review.verdict.exit_code,
        "exitCodeDescription": review.verdict.meaning,
    }
    notifications = [
        {"level": "error", "message": {"text": f"{problem.what} ({problem.advice})"}}
        for problem in problems
    ]
    return invocation | ({"toolExecutionNotifications": notifications} if notifications else {})


def _location(stack: StackReview, result: _Result) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": quote(stack.file)},
            "region": {"startLine": result.line},
        }
    }


def _fingerprint(stack: StackReview, result: _Result) -> str:
    told = "|".join([stack.file, stack.stack, result.rule, result.about])
    return hashlib.sha256(told.encode()).hexdigest()
