"""The configuration of one run of the pack, and what it lets through, in one line.

A rule sees neither its own level nor those of others: policies/sdk.py notes them here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from policies.exceptions import RuleException, date_error, exceptions_in

# Pulumi's key for the level of all rules, and the levels from the lowest.
ALL = "all"
LEVELS = ("disabled", "advisory", "remediate", "mandatory")


@dataclass
class Configuration:
    """The levels of the pack, the configured ones, and what the configuration excepts."""

    rules: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, str] = field(default_factory=dict)
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

    def line(self) -> str:
        """What the configuration softens, and what in it has no effect; empty if nothing."""
        said = "; ".join([*self._without_effect(), *self._softened()])
        return f"The pack's configuration: {said}." if said else ""

    def _without_effect(self) -> Iterator[str]:
        for name in self.levels:
            if name not in self.rules and name != ALL:
                yield f"no rule is called {name}"
        exceptions = [one for each in self.settings.items() for one in exceptions_in(*each)]
        if exceptions and (error := date_error()):
            yield error.rstrip(".")
        for one in exceptions:
            if one.has_expired:
                yield f"the exception of {one.resource} from {one.rule} expired on {one.until}"

    def _softened(self) -> Iterator[str]:
        everywhere = self.levels.get(ALL)
        if everywhere:
            yield f"all rules are {everywhere}"
        for rule, level in self.levels.items():
            own = self.rules.get(rule, level)
            # Pulumi gives each rule the level of all.
            if level != everywhere and LEVELS.index(level) < LEVELS.index(own):
                yield f"{rule} is {level}, not {own}"
        for one, names in self.excepted.items():
            yield f"{one.rule} excepts {', '.join(names)} until {one.until} ({one.reason})"


# The pack runs in its own process, with one configuration.
CONFIGURATION = Configuration()
