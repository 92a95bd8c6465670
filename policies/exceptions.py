"""Resources that a rule passes for a while, by the pack's configuration, and what came of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from glob import escape
from types import MappingProxyType
from typing import Any

from catalogue.today import today

SETTING = "exceptions"
# The rule that tells of them, and of what else the configuration lets through.
TELLS = "pack-configuration"
_TEXT = {"type": "string", "pattern": r"\S"}
SCHEMA: Mapping[str, Any] = MappingProxyType(
    {
        "type": "array",
        "description": "Resources that the rule passes until a day.",
        "items": {
            "type": "object",
            "required": ["resource", "reason", "until"],
            "additionalProperties": False,
            "properties": {
                "resource": {
                    **_TEXT,
                    "description": "A resource's name or URN; * stands for any letters.",
                },
                "reason": {**_TEXT, "description": "Why it is passed."},
                "until": {
                    "type": "string",
                    "pattern": r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
                    "description": "The last day on which it is, as 2026-12-31.",
                },
            },
        },
    }
)


@dataclass(frozen=True)
class RuleException:
    """One resource, or several by a pattern, that a rule passes until a day."""

    rule: str
    resource: str
    reason: str
    until: str

    def covers(self, urn: str) -> bool:
        # A name may have the separator in it; nothing before it may.
        name = urn.split("::", 3)[-1]
        pattern = "*".join(map(escape, self.resource.split("*")))
        return any(fnmatchcase(one, pattern) for one in (name, urn))

    @property
    def counts(self) -> bool:
        # A day that there is not, as 2026-02-30, comes after the month's last one.
        return not day_unknown() and f"{today():%Y-%m-%d}" <= self.until

    @property
    def has_expired(self) -> bool:
        return not day_unknown() and not self.counts


def day_unknown() -> str:
    """Why nobody knows what day it is, and so which exceptions count; else empty."""
    try:
        today()
    except ValueError as error:
        return f"{error}. Without it no exception counts."
    return ""


def exceptions_in(rule: str, settings: Mapping[str, Any]) -> list[RuleException]:
    """A rule's exceptions; what tells of them has none, or they would hide themselves."""
    if rule == TELLS:
        return []
    return [
        RuleException(rule, one["resource"], one["reason"], one["until"])
        for one in settings.get(SETTING, ())
    ]


@dataclass
class Configured:
    """How a run of the pack is configured, and what its exceptions have let through."""

    # The levels of rules: by the pack, and by who uses it, also of rules that there are not.
    rules: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
    # What rules go by where nobody says otherwise, and what is said.
    defaults: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    excepted: dict[RuleException, dict[str, None]] = field(default_factory=dict)

    def passes(self, rule: str, settings: Mapping[str, Any], urn: str) -> bool:
        """Whether an exception of the rule covers a resource; what it lets through is noted."""
        for one in exceptions_in(rule, settings):
            if one.counts and one.covers(urn):
                self.excepted.setdefault(one, {})[urn.split("::", 3)[-1]] = None
                return True
        return False


def meant(name: str, names: Iterable[str]) -> str:
    """What somebody can have meant who wrote a name that there is not."""
    near = get_close_matches(name, [*names], 1)
    return f": did you mean {near[0]}?" if near else f": there are {', '.join(names)}."


# The pack is a process of its own, with one configuration.
CONFIGURED = Configured()
