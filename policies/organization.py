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
_ALL, _LEVEL = "all", "enforcementLevel"


class OrganizationError(Exception):
    """organization.json names something that the pack does not have."""


def inherit(rules: Iterable[Policy], text: str) -> None:
    """Gives rules the levels and settings of the organization's configuration."""
    by_name = {rule.name: rule for rule in rules}
    for name, config in json.loads(text).items():
        if name != _ALL and name not in by_name:
            raise OrganizationError(f"{FILE.name}: the pack has no rule {name}")
        given = {_LEVEL: config} if isinstance(config, str) else dict(config)
        level = given.pop(_LEVEL, None)
        for rule in by_name.values() if name == _ALL else [by_name[name]]:
            if level is not None:
                rule.enforcement_level = EnforcementLevel(level)
            _set_defaults(rule, given)


def _set_defaults(rule: Policy, given: dict[str, Any]) -> None:
    schemas = rule.config_schema.properties if rule.config_schema else {}
    for setting, value in given.items():
        if setting not in schemas:
            raise OrganizationError(f"{FILE.name}: {rule.name} has no setting {setting}")
        schemas[setting] = {**schemas[setting], "default": value}
