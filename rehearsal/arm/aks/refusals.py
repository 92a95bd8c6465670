"""AKS's refusals as data: each rule has a check, its error, and its source."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from re import Pattern
from typing import Any

from catalogue.shapes import at
from rehearsal.arm import errors
from rehearsal.arm.request import Json

# The values to fill into the message of a refusal.
Words = Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A PUT of a pool, by its properties, or of a cluster, by its whole body."""

    name: str
    # The request as it was sent.
    sent: Json
    # What is judged: the request, or the resource with what AKS keeps and fills in.
    values: Json
    before: Json | None = None
    # The properties of a pool's cluster.
    cluster: Json
    group: str
    location: str
    api_version: str
    today: date
    # The subscription of a cluster.
    subscription: str = ""
    # Existing names in lower case: of the pools of a pool's cluster, or of the resource groups of a
    # cluster's subscription, with those of nodes.
    others: Collection[str] = ()

    @property
    def is_new(self) -> bool:
        return self.before is None

    @property
    def is_preview(self) -> bool:
        return self.api_version.endswith("-preview")

    def at(self, path: str) -> Any:
        return at(self.values, path)

    def changes(self, path: str) -> bool:
        """Returns whether the value at a path differs from the present one."""
        return self.before is None or at(self.before, path) != self.at(path)


# Returns the values for the message, or None if the rule is kept.
Check = Callable[[Case], Words | None]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One refusal of AKS."""

    name: str
    # The rule for people.
    summary: str
    # Where AKS's refusal is recorded or documented, and which parts of it are not.
    source: str
    refuses: Check
    error: errors.Refusal
    target: str | None = None
    # It is not applied to existing resources.
    only_new: bool = False
    since: date | None = None


def judge(rules: Iterable[Rule], case: Case) -> None:
    """Refuses a PUT for the first rule that it breaks."""
    for rule in rules:
        if rule.only_new and not case.is_new:
            continue
        if rule.since is not None and case.today < rule.since:
            continue
        words = rule.refuses(case)
        if words is not None:
            target = rule.target and rule.target.format_map(words)
            raise errors.ArmError(rule.error, target, **words)


def every(values: object, path: str) -> Iterator[Any]:
    """Yields the values at a dotted path; `[]` stands for each item, `*` for each name."""
    if not path:
        yield values
        return
    name, _, rest = path.partition(".")
    if name == "*" and isinstance(values, dict):
        for member in values.values():
            yield from every(member, rest)
        return
    member = values.get(name.removesuffix("[]")) if isinstance(values, dict) else None
    for item in member or () if name.endswith("[]") else (member,):
        yield from every(item, rest)


def bare(path: str) -> str:
    """Returns a path without `[]` and `*`."""
    return path.replace("[]", "").replace(".*", "")


def when(is_wrong: Callable[[Case], object]) -> Check:
    """Returns a check whose message has no values."""
    return lambda case: {} if is_wrong(case) else None


def missing(path: str) -> Check:
    return when(lambda case: not case.at(path))


def not_like(pattern: Pattern[str], path: str | None = None) -> Check:
    """Returns a check of the name, or of the value at a path, by a regular expression."""

    def refuses(case: Case) -> Words | None:
        text = case.at(path) if path else case.name
        if not isinstance(text, str) or (path and not text) or pattern.fullmatch(text):
            return None
        return {"value": text}

    return refuses


def outside(path: str, lowest: float, highest: float, *, unless: object = None) -> Check:
    """Returns a check of a number's range."""

    def refuses(case: Case) -> Words | None:
        value = case.at(path)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value in (None, unless) or (is_number and lowest <= value <= highest):
            return None
        return {"value": value, "lowest": lowest, "highest": highest}

    return refuses


def none_of(path: str, choices: Iterable[str]) -> Check:
    """Returns a check of an enumeration. An empty text counts as absent: `az` sends it."""
    known = {choice.lower() for choice in choices}

    def refuses(case: Case) -> Words | None:
        values = (value for value in every(case.values, path) if value not in (None, ""))
        return next(({"value": value} for value in values if str(value).lower() not in known), None)

    return refuses


def enumeration(
    path: str,
    choices: Iterable[str],
    *,
    prefix: str = "",
    source: str,
    code: str = "",
    name: str = "",
) -> Rule:
    """Returns the rule for an enumeration, whose values may be in any case.

    The message is the one of AKS for `localDNSProfile.mode`.
    """
    values = tuple(choices)
    *most, last = values
    only = f"{', '.join(most)} and {last}" if most else last
    shown = path.removeprefix("properties.")
    parameter = f"{prefix and prefix + 'Profile.'}{bare(shown)}"
    error = invalid(
        parameter,
        f"value {{value}} is not allowed. Only {only} are allowed.",
    )
    return Rule(
        name=name or f"{prefix or 'cluster'}-{bare(shown)}".replace(".", "-"),
        summary=f"`{shown}` is one of {', '.join(values)}, in any case.",
        source=source,
        refuses=none_of(path, values),
        error=replace(error, code=code) if code else error,
        target=parameter,
    )


def invalid(parameter: str, reason: str = "") -> errors.Refusal:
    """Returns the refusal of a parameter; without a reason it refers to the naming rules."""
    more = f"Error details: {reason}" if reason else f"Please see {NAMING_RULES}"
    return errors.of_aks(
        f"400 InvalidParameter: The value of parameter {parameter} is invalid. {more}"
    )


def required(parameter: str) -> errors.Refusal:
    return errors.of_aks(f"400 InvalidParameter: Required parameter {parameter} is missing (null).")


NAMING_RULES = "https://aka.ms/aks-naming-rules for more details."
# AKS's list of error codes, each with the check that it belongs to.
CODES = "AKS's list of error codes (Go package apierror, Microsoft, 2021)"
UNRECORDED = "the words are not on record"
SPEC = "azure-rest-api-specs, managedClusters 2026-08-01"
SPEC_AND_WORDS = f"{SPEC}; the words as recorded for localDNSProfile.mode (7, 2025-10)"

_RESOURCE_ID = re.compile(r"/(subscriptions|providers)/[^/]+/.+", re.IGNORECASE)
NOT_AN_ID = errors.of_arm(
    "400 LinkedInvalidPropertyId: Property id '{id}' at path '{path}' is invalid. Expect fully "
    "qualified resource Id that start with '/subscriptions/{{subscriptionId}}' or "
    "'/providers/{{resourceProviderNamespace}}/'."
)


def not_an_id(text: object, path: str) -> Words | None:
    """Returns the words of `NOT_AN_ID`; None if the text is a resource id, or absent."""
    if not text or _RESOURCE_ID.fullmatch(str(text)):
        return None
    return {"id": text, "path": path}


MOST_POOLS = 100
TOO_MANY_POOLS = errors.of_aks(
    "400 MaxAgentPoolCountReached: A cluster can have at most {most} agent pools."
)
