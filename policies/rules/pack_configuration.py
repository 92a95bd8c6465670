"""The pack's configuration is visible: exceptions, switched-off rules, changed settings.

The rule lists resources that are excepted, rules that are switched off or lowered, and settings
other than the pack's own, each with its reason. It also lists what has no effect: names of rules
that do not exist, and exceptions that have expired. It cannot be switched off, also not by `"all":
"disabled"`, and takes no exceptions.
"""

import json
from collections.abc import Iterator

from policies.exceptions import CONFIGURED, day_unknown, exceptions_in, meant
from policies.rule import Settings
from policies.stack_rule import Members, StackFindings, StackRule
from policies.unknowns import Unknowns

_ORDER = ("disabled", "advisory", "remediate", "mandatory")


@StackRule(
    title="The pack's configuration is visible",
    description="Reports what the pack's configuration excepts, lowers or changes.",
    remedy="Correct names that do not exist, and remove expired exceptions.",
    tags=("configuration",),
)
def pack_configuration(_: Members, __: Settings, ___: Unknowns) -> StackFindings:
    return ((message, "") for message in [*_mistakes(), *_let_through()])


def _mistakes() -> Iterator[str]:
    rules = CONFIGURED.rules
    for name in CONFIGURED.levels:
        if name not in rules:
            yield f"The pack has no rule {name}{meant(name, rules)}"
    excepted = [
        one for rule in rules for one in exceptions_in(rule, CONFIGURED.settings.get(rule, {}))
    ]
    if excepted and (why := day_unknown()):
        yield why
    for one in excepted:
        if one.has_expired:
            yield (
                f"The exception of {one.resource} from {one.rule} expired on {one.until}. Remove "
                f"it: {one.reason}"
            )


def _let_through() -> Iterator[str]:
    for one, names in CONFIGURED.excepted.items():
        yield f"{one.rule} excepts {', '.join(names)} until {one.until}: {one.reason}"
    for rule, level in CONFIGURED.levels.items():
        otherwise = CONFIGURED.rules.get(rule, level)
        if _ORDER.index(level) < _ORDER.index(otherwise):
            how = "switched off" if level == "disabled" else f"{level} instead of {otherwise}"
            yield f"{rule} is {how}{_why(rule)}"
    for rule, settings in CONFIGURED.settings.items():
        defaults = CONFIGURED.defaults.get(rule, {})
        own = {
            name: value
            for name, value in sorted(settings.items())
            if name in defaults and value != defaults[name]
        }
        if own:
            has = " and ".join(f"{name} {json.dumps(value)}" for name, value in own.items())
            otherwise = " and ".join(json.dumps(defaults[name]) for name in own)
            yield f"{rule} has {has} instead of {otherwise}{_why(rule)}"


def _why(rule: str) -> str:
    reason = CONFIGURED.settings.get(rule, {}).get("reason")
    return f": {reason}" if reason else "."
