"""What an organization sets for all of its stacks: levels and settings in organization.json.

They take the place of the pack's own. A stack's configuration comes on top, and the rule
`pack-configuration` tells where it softens them.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pulumi_policy import EnforcementLevel, Policy

FILE = Path(__file__).with_name("organization.json")
LEVELS = ("advisory", "mandatory", "remediate", "disabled")
# The key for all rules, and the key of a rule's level.
ALL, LEVEL = "all", "enforcementLevel"


class OrganizationError(Exception):
    """What is wrong in organization.json, in one sentence."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{FILE.name}: {what}. `aksgpu policies` names every mistake in it.")


def inherit(rules: Iterable[Policy], text: str) -> None:
    """Gives rules the levels and settings of the organization's configuration."""
    by_name = {rule.name: rule for rule in rules}
    for name, config in _read(text).items():
        if name != ALL and name not in by_name:
            raise OrganizationError(f"the pack has no rule {name}")
        given = dict(config) if isinstance(config, dict) else {LEVEL: config}
        level = given.pop(LEVEL, None)
        if level is not None and level not in LEVELS:
            raise OrganizationError(f"{name}: {level} is no level")
        for rule in by_name.values() if name == ALL else [by_name[name]]:
            if level is not None:
                rule.enforcement_level = EnforcementLevel(level)
            _set_defaults(rule, given)


def _read(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError as error:
        raise OrganizationError(f"it is not valid JSON ({error})") from None
    if not isinstance(content, dict):
        raise OrganizationError("it is not an object with rules as keys")
    return content


def _set_defaults(rule: Policy, given: dict[str, Any]) -> None:
    schemas = rule.config_schema.properties if rule.config_schema else {}
    for setting, value in given.items():
        if setting not in schemas:
            raise OrganizationError(f"{rule.name} has no setting {setting}")
        schemas[setting] = {**schemas[setting], "default": value}
