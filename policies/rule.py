"""How a rule is made: what all rules have in common, and the settings that a pack can give them."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
)

from policies.pools import Pool, pools_of
from policies.unknowns import Unknowns

PAGE = "https://github.com/aks-gpu/aks-gpu/blob/main/docs/policies.md"

Settings = Mapping[str, Any]

# The stack itself is the first of its resources.
_STACK = "pulumi:pulumi:Stack"

# JSON has no comments: every rule takes one as a setting.
_REASON: Mapping[str, Any] = MappingProxyType(
    {
        "type": "string",
        "description": "Why this level or these settings: for readers, no rule looks at it.",
    }
)


@dataclass(frozen=True, kw_only=True)
class About:
    """What a rule says of itself. Settings are JSON schemas, by name, with their defaults."""

    name: str
    title: str
    description: str
    level: EnforcementLevel
    severity: Severity
    remedy: str
    tags: tuple[str, ...]
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def arguments(self) -> dict[str, Any]:
        """The arguments that policies of every kind take."""
        settings = {**self.settings, "reason": _REASON}
        return {
            "name": self.name,
            "display_name": self.title,
            "description": self.description,
            "enforcement_level": self.level,
            "severity": self.severity,
            "remediation_steps": self.remedy,
            "tags": list(self.tags),
            "url": f"{PAGE}#{self.name}",
            "config_schema": PolicyConfigSchema(
                {name: dict(schema) for name, schema in settings.items()}
            ),
        }

    def judge_settings(self, args: ResourceValidationArgs, report: ReportViolation) -> None:
        """Tells, once a run, of settings that the rule does not have: the engine lets them pass."""
        if args.resource_type != _STACK:
            return
        known = [*self.settings, "reason"]
        for name in args.get_config():
            if name not in known:
                report(f"The rule has no setting {name}: it has {', '.join(known)}.", None)

    def settings_in(self, config: Mapping[str, Any]) -> Settings:
        """The rule's settings: what the pack's configuration says, and else the defaults."""
        defaults = {
            name: schema["default"] for name, schema in self.settings.items() if "default" in schema
        }
        return {**defaults, **config}


def pool_rule(
    about: About, judge: Callable[[Pool, Settings], Iterable[str]]
) -> ResourceValidationPolicy:
    """A rule on each agent pool by itself: `judge` says what is wrong with one."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        about.judge_settings(args, report)
        settings = about.settings_in(args.get_config())
        unknowns = Unknowns()
        for pool in pools_of(args.resource_type, args.props):
            with unknowns.put_off():
                for finding in judge(pool, settings):
                    report(f"{pool.label} {finding}", None)
        unknowns.raise_now()

    return ResourceValidationPolicy(validate=validate, **about.arguments())


def resource_rule(
    about: About, judge: Callable[[ResourceValidationArgs, Settings], Iterable[str]]
) -> ResourceValidationPolicy:
    """A rule on each resource by itself: `judge` says what is wrong with one."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        about.judge_settings(args, report)
        for finding in judge(args, about.settings_in(args.get_config())):
            report(finding, None)

    return ResourceValidationPolicy(validate=validate, **about.arguments())
