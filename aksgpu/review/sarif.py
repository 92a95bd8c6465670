"""The report as SARIF 2.1.0, for code scanning: findings with their lines in stack files."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from aksgpu.report import as_json
from aksgpu.review import wording
from aksgpu.review.model import LOSSES, Resource, Review, StackReview
from aksgpu.review.rules import RuleFacts, facts_of
from aksgpu.visible import visible

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_ALLOW = "Revert the change, or allow it as the message says."
# Findings of the review itself, besides the rules of the pack: description and remedy.
_REVIEW_RULES: Mapping[str, tuple[str, str]] = {
    "gpu-pool-replaced": ("A GPU pool is replaced.", _ALLOW),
    "gpu-pool-rotated": (
        "A GPU pool is replaced by one that is created first.",
        "See docs/rotate.md.",
    ),
    "gpu-pool-deleted": ("A GPU pool is deleted.", _ALLOW),
    "gpu-pool-resized": ("A GPU pool loses its nodes of a VM size.", _ALLOW),
    "gpu-pool-forgotten": ("A cluster no longer names one of its GPU pools.", _ALLOW),
    "judging-brought": (
        "A change modifies the policy configuration that it is reviewed with.",
        "An owner can allow it with --allow policies:STACK.",
    ),
    "preflight": (
        "Azure would refuse a stack.",
        "Do what the message says; then run `aksgpu preflight` again.",
    ),
    "rule-not-run": (
        "A rule could not run, since it needs a value that is not known before the update.",
        "Set the value in the stack file, or change the rule so that it does not need it.",
    ),
    "stack-not-reviewed": (
        "The review of a stack did not finish.",
        "Do what the message says, and run the review again.",
    ),
}


@dataclass(frozen=True)
class _Result:
    rule: str
    level: str
    message: str
    # Identifies the finding from run to run.
    about: str
    line: int | None
    column: int | None = None
    # The pack of the rule; None for a finding of the review itself.
    pack: str | None = None

    @property
    def facts(self) -> RuleFacts:
        if self.pack is not None:
            return facts_of(self.rule, self.pack)
        description, remedy = _REVIEW_RULES[self.rule]
        return RuleFacts(description=description, remedy=remedy)


def as_sarif(review: Review) -> str:
    results = [(stack, result) for stack in review.stacks for result in _results(stack)]
    rules = {result.rule: result.facts for _, result in results}
    order = sorted(rules)
    driver = {
        "name": "aks-gpu review",
        "version": version("aks-gpu"),
        "rules": [_rule(name, rules[name]) for name in order],
    }
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(review)],
        "columnKind": "unicodeCodePoints",
        "results": [
            {
                "ruleId": result.rule,
                "ruleIndex": order.index(result.rule),
                "level": result.level,
                "message": {"text": visible(f"{stack.stack}: {result.message}")},
                "locations": [
                    {
                        "physicalLocation": {
                            "artifactLocation": {"uri": quote(stack.file)},
                            "region": {"startLine": result.line or 1}
                            | ({"startColumn": result.column} if result.column else {}),
                        }
                    }
                ],
                "partialFingerprints": {"aksGpuReview/v1": fingerprint},
            }
            for (stack, result), fingerprint in zip(results, _fingerprints(results), strict=True)
        ],
    }
    return as_json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _results(stack: StackReview) -> Iterator[_Result]:
    for problem in stack.problems:
        message = f"{problem.key}: {problem.what}" if problem.key else problem.what
        about = f"{problem.cause.word}|{problem.key or problem.what}"
        line = problem.line or stack.lines.get(problem.key)
        yield _Result("stack-not-reviewed", "error", message, about, line, problem.column)
    if judging := stack.judging:
        for brought in judging.brought:
            message = f"{wording.change_in_words(brought)}. {judging.result}"
            yield _Result("judging-brought", "warning", message, brought.what, None)
    for lost in stack.lost:
        rule, level = f"gpu-pool-{LOSSES[lost.kind][0]}", "note" if lost.allowed else "error"
        message, about = f"{lost.message} {lost.remedy}", f"{lost.resource.urn}|{lost.pool}"
        yield _Result(rule, level, message, about, stack.line_of(lost.resource))
    for row in wording.preflight_rows(stack.preflight) if stack.preflight else ():
        level = "error" if row.cause else "warning"
        message = f"{wording.asked_about(row)}: {row.what} {row.advice}".rstrip()
        about = f"{row.pool}|{row.question}"
        yield _Result("preflight", level, message, about, stack.lines.get(row.key))
    for finding in stack.findings:
        level = "error" if finding.mandatory else "warning"
        text = f"{finding.message} {finding.remedy}".strip()
        message = f"{wording.where(finding.resource)}: {text}"
        about = f"{finding.pack}|{_urn(finding.resource)}|{finding.message}"
        line = stack.line_of(finding.resource)
        yield _Result(finding.rule, level, message, about, line, pack=finding.pack)
    for not_run in stack.not_run:
        what = f"{not_run.rule} could not run: {not_run.why}".strip()
        about = f"{not_run.pack}|{not_run.rule}|{_urn(not_run.resource)}"
        message = f"{wording.where(not_run.resource)}: {what}"
        yield _Result("rule-not-run", "error", message, about, stack.line_of(not_run.resource))


def _urn(resource: Resource | None) -> str:
    return resource.urn if resource else ""


def _rule(name: str, facts: RuleFacts) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": name, "shortDescription": {"text": facts.description or name}}
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


def _fingerprints(results: Iterable[tuple[StackReview, _Result]]) -> Iterator[str]:
    """Stable from run to run, and unique: GitHub shows only one of two equal ones."""
    counts: Counter[str] = Counter()
    for stack, result in results:
        identity = "|".join([stack.file, stack.stack, result.rule, result.about])
        counts[identity] += 1
        # Only repetitions get a number, so that the first stays the same.
        identity += f"|{counts[identity]}" if counts[identity] > 1 else ""
        yield hashlib.sha256(identity.encode()).hexdigest()
