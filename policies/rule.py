"""How a rule is made: what all rules have in common, and the settings that a pack can give them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
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
class PolicyInfo:
    """A rule's description. Settings are JSON schemas, by name, with their defaults."""

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
        """Reports, once a run, settings that the rule does not have: the engine accepts them."""
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
    info: PolicyInfo, judge: Callable[[Pool, Settings], Iterable[str]]
) -> ResourceValidationPolicy:
    """A rule on each agent pool by itself: `judge` returns what is wrong with one."""

    def judge_pools(
        args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
    ) -> Iterator[str]:
        def judge_pool(pool: Pool) -> Iterator[str]:
            return (f"{pool.label} {finding}" for finding in judge(pool, settings))

        return unknowns.each(pools_of(args.resource_type, args.props), judge_pool)

    return resource_rule(info, judge_pools)


def resource_rule(
    info: PolicyInfo, judge: Callable[[ResourceValidationArgs, Settings, Unknowns], Iterable[str]]
) -> ResourceValidationPolicy:
    """A rule on each resource by itself: `judge` returns what is wrong, and defers unknowns."""

    def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
        info.judge_settings(args, report)
        unknowns = Unknowns()
        for finding in judge(args, info.settings_in(args.get_config()), unknowns):
            report(finding, None)
        unknowns.raise_now()

    return ResourceValidationPolicy(validate=validate, **info.arguments())
