"""By what a change is judged. What it brings for that itself counts only where it is allowed."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from aksgpu.allowances import JUDGING, Allowance
from aksgpu.review.masking import clean

_AS_IT_IS = "nothing of its own"
_WHOLE = "the configuration"
_RETIRED = "allowRetired"


class Criteria(NamedTuple):
    """What decides about a stack beside the pack itself: who writes a stack file writes them."""

    # The text of the pack's configuration for the stack; None: it has none.
    configuration: str | None
    allows_retired: bool


class Brought(NamedTuple):
    """A rule, or a setting, that the change configures otherwise."""

    what: str
    before: str
    after: str


@dataclass(frozen=True)
class Judging:
    """The criteria that count, and what the change brings for others."""

    by: Criteria
    brought: list[Brought]
    allowance: Allowance
    allowed: bool

    @property
    def result(self) -> str:
        if self.allowed:
            return f"It counts: --allow {self.allowance} was given."
        return (
            "It does not count: the base's is what judges here. Where an owner wants it to count: "
            f"--allow {self.allowance}."
        )


def judging(
    stack: str, now: Criteria, base: Criteria | None, allowed: Collection[Allowance]
) -> Judging:
    """By what a stack is judged; `base` is None where there is none to compare with."""
    allowance = Allowance(JUDGING, stack)
    if base is None:
        return Judging(now, [], allowance, allowed=True)
    may = allowance in allowed
    return Judging(now if may else base, list(_brought(base, now)), allowance, may)


def _brought(base: Criteria, now: Criteria) -> Iterator[Brought]:
    before, after = _rules(base.configuration), _rules(now.configuration)
    for rule in sorted({*before, *after}):
        if before.get(rule) != after.get(rule):
            yield Brought(clean(rule), _shown(before, rule), _shown(after, rule))
    if now.allows_retired != base.allows_retired:
        yield Brought(_RETIRED, *(json.dumps(each.allows_retired) for each in (base, now)))


def _rules(text: str | None) -> Mapping[str, Any]:
    """What is configured, by rule. What cannot be read is one thing."""
    try:
        read = json.loads(text or "{}", parse_constant=_refuse)
    except (RecursionError, ValueError):
        read = text
    return read if isinstance(read, Mapping) else {_WHOLE: read}


def _refuse(constant: str) -> None:
    # Python's own words beside JSON. NaN is not even equal to itself.
    raise ValueError(f"{constant} is not JSON.")


def _shown(rules: Mapping[str, Any], rule: str) -> str:
    return clean(json.dumps(rules[rule], sort_keys=True)) if rule in rules else _AS_IT_IS
