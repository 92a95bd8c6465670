"""The page of the policy pack's rules."""

import json
import re
import sys
from collections.abc import Iterator

from pulumi_policy import EnforcementLevel, Policy

from components.package.docstrings import flat
from policies.exceptions import SETTING as EXCEPTIONS
from policies.rules import RULES
from reference.markdown import code, sections, table

_INTRODUCTION = """\
The policy pack has {count} rules. [How to run and configure it](../policies.md).

- A **mandatory** finding fails the preview, and an update before anything is sent.
- An **advisory** finding is only reported.
- **remediate** corrects what it can, and the rest is mandatory.

Each rule also takes `reason`, a text for readers{exceptions}."""
# Settings of every rule.
_OF_ALL = ("reason", EXCEPTIONS)


def page() -> str:
    introduction = _INTRODUCTION.format(
        count=len(RULES),
        exceptions=f", and `{EXCEPTIONS}` ([how](../policies.md#exceptions))",
    )
    levels = dict.fromkeys(map(_level, RULES))
    overview = "\n\n".join(f"**{level}**: {_names(level)}." for level in levels)
    return sections("Rules of the policy pack", introduction, overview, *map(_section, RULES))


def _names(level: str) -> str:
    return ", ".join(f"[{rule.name}](#{rule.name})" for rule in RULES if _level(rule) == level)


def _section(rule: Policy) -> str:
    return "\n\n".join(filter(None, _texts(rule)))


def _texts(rule: Policy) -> Iterator[str]:
    yield f"## {rule.name}"
    yield f"Level: {_level(rule)}. Severity: {_severity(rule)}."
    yield rule.description or ""
    module = sys.modules[f"policies.rules.{rule.name.replace('-', '_')}"]
    # The first paragraph is the description.
    yield _linked(flat(module.__doc__ or "").partition("\n\n")[2], rule)
    yield f"**What to do:** {rule.remediation_steps}"
    yield table(("setting", "default", "meaning"), _settings(rule))


def _settings(rule: Policy) -> Iterator[tuple[str, str, str]]:
    properties = rule.config_schema.properties if rule.config_schema else {}
    for name, schema in properties.items():
        if name not in _OF_ALL:
            default = code(json.dumps(schema["default"])) if "default" in schema else "none"
            yield code(name), default, schema["description"]


def _linked(text: str, rule: Policy) -> str:
    """The text, with names of other rules as links."""
    others = {other.name for other in RULES} - {rule.name}
    return re.sub(
        r"`([a-z-]+)`",
        lambda found: f"[{found[1]}](#{found[1]})" if found[1] in others else found[0],
        text,
    )


def _level(rule: Policy) -> str:
    return (rule.enforcement_level or EnforcementLevel.ADVISORY).value


def _severity(rule: Policy) -> str:
    return rule.severity.value if rule.severity else ""
