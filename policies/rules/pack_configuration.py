"""The pack's configuration is visible: exceptions, switched-off rules, changed settings.

The rule lists resources that are excepted, rules that are switched off or lowered, and settings
other than the pack's own, each with its reason. It also lists what has no effect: names of rules
that do not exist, and exceptions that have expired. It cannot be switched off, also not by `"all":
"disabled"`, and takes no exceptions.
"""

import json
from collections.abc import Iterator

from policies.exceptions import CONFIGURATION, date_error, exceptions_in, suggestion
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns

_ORDER = ("disabled", "advisory", "remediate", "mandatory")
_LEVELS = {"disabled": "switched off"}
# Pulumi's key for the level of all rules.
_ALL = "all"


@StackRule(
    title="The pack's configuration is visible",
    description="Reports what the pack's configuration excepts, lowers or changes.",
    remedy="Nothing, if it is meant. Correct names that do not exist; remove what has expired.",
    tags=("configuration",),
)
def pack_configuration(_: Members, __: Settings, ___: Unknowns) -> StackFindings:
    return ((message, "") for message in [*_mistakes(), *_let_through()])


def _mistakes() -> Iterator[str]:
    rules = CONFIGURATION.rules
    for name in CONFIGURATION.levels:
        if name not in rules and name != _ALL:
            yield f"The pack has no rule {name}{suggestion(name, rules)}"
    exceptions = [
        exception
        for rule in rules
        for exception in exceptions_in(rule, CONFIGURATION.settings.get(rule, {}))
    ]
    if exceptions and (error := date_error()):
        yield error
    for exception in exceptions:
        if exception.has_expired:
            yield (
                f"The exception of {exception.resource} from {exception.rule} expired on "
                f"{exception.until}: remove it. Its reason was: {exception.reason}"
            )


def _let_through() -> Iterator[str]:
    for exception, names in CONFIGURATION.excepted.items():
        until, reason = exception.until, exception.reason
        yield f"{exception.rule} excepts {', '.join(names)} until {until}: {reason}"
    everywhere = CONFIGURATION.levels.get(_ALL)
    if everywhere:
        yield f"All rules are {_LEVELS.get(everywhere, everywhere)}."
    for rule, level in CONFIGURATION.levels.items():
        # Pulumi gives each rule the level of all.
        if level == everywhere:
            continue
        default = CONFIGURATION.rules.get(rule, level)
        if _ORDER.index(level) < _ORDER.index(default):
            change = _LEVELS.get(level, f"{level} instead of {default}")
            yield f"{rule} is {change}{_reason(rule)}"
    for rule, settings in CONFIGURATION.settings.items():
        defaults = CONFIGURATION.defaults.get(rule, {})
        changed = {
            name: value
            for name, value in sorted(settings.items())
            if name in defaults and value != defaults[name]
        }
        if changed:
            values = " and ".join(f"{name} {json.dumps(value)}" for name, value in changed.items())
            default = " and ".join(json.dumps(defaults[name]) for name in changed)
            yield f"{rule} has {values} instead of {default}{_reason(rule)}"


def _reason(rule: str) -> str:
    reason = CONFIGURATION.settings.get(rule, {}).get("reason")
    return f": {reason}" if reason else "."
