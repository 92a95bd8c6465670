"""Exceptions from rules: a resource, or several by a pattern, until a day."""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from typing import Any

from aks_catalogue.today import today

SETTING = "exceptions"
_TEXT = {"type": "string", "pattern": r"\S"}
_PROPERTIES: Mapping[str, Any] = {
    "resource": {**_TEXT, "description": "A resource name or URN; * matches any characters."},
    "reason": {**_TEXT, "description": "The reason for the exception."},
    "until": {
        "type": "string",
        "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
        # Python's `$` also matches before a line break.
        "maxLength": 10,
        "description": "The last day of the exception, such as 2026-12-31.",
    },
}
SCHEMA: Mapping[str, Any] = {
    "type": "array",
    "description": "Resources that the rule ignores until a date.",
    "items": {
        "type": "object",
        "required": [*_PROPERTIES],
        "additionalProperties": False,
        "properties": dict(_PROPERTIES),
    },
}


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
    """Returns a rule's exceptions."""
    return [RuleException(rule, **item) for item in settings.get(SETTING, ())]
