"""Exceptions from rules, by resource and until a date, from the pack's configuration."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from glob import escape
from types import MappingProxyType
from typing import Any

from aks_catalogue.today import today

SETTING = "exceptions"
# The rule that reports exceptions, and what else the configuration lets through.
REPORTING_RULE = "pack-configuration"
_TEXT = {"type": "string", "pattern": r"\S"}
SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "array",
        "description": "Resources that the rule ignores until a date.",
        "items": {
            "type": "object",
            "required": ["resource", "reason", "until"],
            "additionalProperties": False,
            "properties": {
                "resource": {
                    **_TEXT,
                    "description": "A resource name or URN; * matches any characters.",
                },
                "reason": {**_TEXT, "description": "The reason for the exception."},
                "until": {
                    "type": "string",
                    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
                    # Python's `$` also matches before a line break.
                    "maxLength": 10,
                    "description": "The last day of the exception, such as 2026-12-31.",
                },
            },
        },
    }
)


@dataclass(frozen=True)
class RuleException:
    """A resource, or several by a pattern, that a rule ignores until a date."""

    rule: str
    resource: str
    reason: str
    until: str

    def covers(self, urn: str) -> bool:
        # Only the name, the last part of the URN, can contain the separator.
        name = urn.split("::", 3)[-1]
        pattern = "*".join(map(escape, self.resource.split("*")))
        return any(fnmatchcase(text, pattern) for text in (name, urn))

    @property
    def in_effect(self) -> bool:
        # Compared as text: 2026-02-30, which is no date, includes all of February.
        return not date_error() and f"{today():%Y-%m-%d}" <= self.until

    @property
    def has_expired(self) -> bool:
        return not date_error() and not self.in_effect


def date_error() -> str:
    """Returns why the date of today is unknown, and so no exception is in effect; else empty."""
    try:
        today()
    except ValueError as error:
        return f"{error}. Until then, no exception is in effect."
    return ""


def exceptions_in(rule: str, settings: Mapping[str, Any]) -> list[RuleException]:
    """Returns a rule's exceptions. The rule that reports them has none, so they stay visible."""
    if rule == REPORTING_RULE:
        return []
    return [
        RuleException(rule, item["resource"], item["reason"], item["until"])
        for item in settings.get(SETTING, ())
    ]


@dataclass
class PackConfiguration:
    """The configuration of one run of the pack, and the resources that it excepted."""

    # The pack's own levels by rule, and the configured ones, also of rules that do not exist.
    rules: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
    # The default settings by rule, and the configured ones.
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    # The names of resources, in order.
    excepted: dict[RuleException, dict[str, None]] = field(default_factory=dict)

    def excepts(self, rule: str, settings: Mapping[str, Any], urn: str) -> bool:
        """Whether an exception from the rule covers a resource. Notes the resource if so."""
        for exception in exceptions_in(rule, settings):
            if exception.in_effect and exception.covers(urn):
                self.excepted.setdefault(exception, {})[urn.split("::", 3)[-1]] = None
                return True
        return False


def suggestion(name: str, names: Iterable[str]) -> str:
    """Returns the end of a message about a name that does not exist: the closest name, or all."""
    near = get_close_matches(name, [*names], 1)
    return f": did you mean {near[0]}?" if near else f": use one of {', '.join(names)}."


# The pack runs in its own process, with one configuration.
CONFIGURATION = PackConfiguration()
