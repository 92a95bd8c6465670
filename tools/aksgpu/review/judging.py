"""The criteria of a review. A change to the criteria applies only if it is allowed."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from aksgpu.allowances import JUDGING, Allowance
from aksgpu.review.masking import clean

_NOT_CONFIGURED = "not configured"
_WHOLE = "the configuration"
_RETIRED = "allowRetired"


class Criteria(NamedTuple):
    """What decides about a stack besides the pack. The author of a change can change them too."""

    # The text of the pack's configuration for the stack; None if it has none.
    configuration: str | None
    allows_retired: bool


@dataclass(frozen=True)
class PolicyChange:
    """A rule or a setting that the change configures differently."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class PolicyChanges:
    """How a change modifies its own criteria, and whether that applies to its review."""

    changes: list[PolicyChange]
    allowance: str
    applied: bool

    @property
    def result(self) -> str:
        if self.applied:
            return f"It applies: --allow {self.allowance} was given."
        return (
            "It does not apply to this review, which uses the configuration of the base. An owner "
            f"can allow it with --allow {self.allowance}."
        )


def criteria_of(
    stack: str, now: Criteria, base: Criteria | None, allowed: Collection[Allowance]
) -> tuple[Criteria, PolicyChanges]:
    """The criteria that apply to a stack; `base` is None if there is nothing to compare with."""
    allowance = Allowance(JUDGING, stack)
    if base is None:
        return now, PolicyChanges([], str(allowance), applied=True)
    is_allowed = allowance in allowed
    changes = PolicyChanges(list(_changes(base, now)), str(allowance), is_allowed)
    return now if is_allowed else base, changes


def _changes(base: Criteria, now: Criteria) -> Iterator[PolicyChange]:
    before, after = _rules(base.configuration), _rules(now.configuration)
    for rule in sorted({*before, *after}):
        if before.get(rule) != after.get(rule):
            yield PolicyChange(clean(rule), _shown(before, rule), _shown(after, rule))
    if now.allows_retired != base.allows_retired:
        yield PolicyChange(_RETIRED, *(json.dumps(each.allows_retired) for each in (base, now)))


def _rules(text: str | None) -> Mapping[str, Any]:
    """The configuration by rule. Invalid JSON is one entry."""
    try:
        rules = json.loads(text or "{}", parse_constant=_refuse)
    except (RecursionError, ValueError):
        rules = text
    return rules if isinstance(rules, Mapping) else {_WHOLE: rules}


def _refuse(constant: str) -> None:
    # Python accepts NaN and Infinity; NaN is not even equal to itself.
    raise ValueError(f"{constant} is not JSON.")


def _shown(rules: Mapping[str, Any], rule: str) -> str:
    return clean(json.dumps(rules[rule], sort_keys=True)) if rule in rules else _NOT_CONFIGURED
