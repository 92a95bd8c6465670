"""What an organization sets for all of its stacks: levels and settings in organization.json.

They take the place of the pack's own, and a stack's configuration comes on top.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pulumi_policy import EnforcementLevel, Policy

from policies.configuration import ALL, LEVELS

FILE = Path(__file__).with_name("organization.json")
# The key of a rule's level.
LEVEL = "enforcementLevel"


def inherit(rules: Iterable[Policy], text: str) -> None:
    """Gives rules the levels and settings of the organization. Raises ValueError at a mistake."""
    by_name = {rule.name: rule for rule in rules}
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(f"it is not valid JSON ({error})") from None
    if not isinstance(content, dict):
        raise ValueError("it is not an object with rules as keys")  # noqa: TRY004 (a file, no call)
    for name, config in content.items():
        if name != ALL and name not in by_name:
            raise ValueError(f"the pack has no rule {name}")
        given = dict(config) if isinstance(config, dict) else {LEVEL: config}
        for rule in by_name.values() if name == ALL else [by_name[name]]:
            _set(rule, given)


def _set(rule: Policy, given: dict[str, Any]) -> None:
    schemas = rule.config_schema.properties if rule.config_schema else {}
    for setting, value in given.items():
        if setting in schemas:
            schemas[setting] = {**schemas[setting], "default": value}
        elif setting != LEVEL:
            raise ValueError(f"{rule.name} has no setting {setting}")
        elif value not in LEVELS:
            raise ValueError(f"{rule.name}: {value} is no level")
        else:
            rule.enforcement_level = EnforcementLevel(value)
