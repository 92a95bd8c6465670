"""How a rule is made: what all rules have in common, and the settings that a pack can give them."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import wraps
from itertools import chain
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

from policies import exceptions
from policies.exceptions import CONFIGURED
from policies.pools import Pool, pools_of
from policies.provisioned import provisioned
from policies.reading import reading
from policies.sdk import LastResults
from policies.shapes import RESOURCE
from policies.unknowns import Unknowns

PAGE = "https://github.com/aks-gpu/aks-gpu/blob/main/docs/reference/rules.md"

Settings = Mapping[str, Any]
# What is wrong, in sentences.
Findings = Iterator[str]
ResourceJudge = Callable[[ResourceValidationArgs, Settings, Unknowns], Findings]
PoolJudge = Callable[[Pool, Settings], Findings]

# The stack itself is the first of its resources.
STACK = "pulumi:pulumi:Stack"

# What every rule takes: JSON has no comments.
_REASON = {"type": "string", "description": "Why this level or these settings: for readers."}
_OF_ALL: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"reason": _REASON, exceptions.SETTING: exceptions.SCHEMA}
)


# One reading of a resource serves all rules, where the SDK hands the same over to all of them.
_read = LastResults(lambda said: reading(said, RESOURCE))


@dataclass(frozen=True, kw_only=True)
class PolicyInfo:
    """A rule's description. Settings are JSON schemas, by name, with their defaults."""

    title: str
    description: str
    remedy: str
    tags: tuple[str, ...]
    level: EnforcementLevel = EnforcementLevel.ADVISORY
    severity: Severity = Severity.MEDIUM
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def arguments(self, function: str) -> dict[str, Any]:
        """The arguments that policies of every kind take; a rule has the name of its function."""
        name = function.replace("_", "-")
        return {
            "name": name,
            "display_name": self.title,
            "description": self.description,
            "enforcement_level": self.level,
            "severity": self.severity,
            "remediation_steps": self.remedy,
            "tags": list(self.tags),
            "url": f"{PAGE}#{name}",
            "config_schema": PolicyConfigSchema(
                {setting: dict(schema) for setting, schema in self.schemas(name).items()}
            ),
        }

    def schemas(self, name: str) -> dict[str, Mapping[str, Any]]:
        """What it takes; an exception from the rule that tells of exceptions would go untold."""
        return {
            setting: schema
            for setting, schema in {**self.settings, **_OF_ALL}.items()
            if setting != exceptions.SETTING or name != exceptions.TELLS
        }

    def judge_settings(
        self, name: str, args: ResourceValidationArgs, report: ReportViolation
    ) -> None:
        """Reports, once a run, settings that the rule does not have: the engine accepts them."""
        if args.resource_type != STACK:
            return
        known = self.schemas(name)
        for setting in args.get_config():
            if setting not in known:
                report(f"The rule has no setting {setting}: it has {', '.join(known)}.", None)

    def settings_in(self, config: Mapping[str, Any]) -> Settings:
        """The rule's settings: what the pack's configuration says, and else the defaults."""
        defaults = {
            name: schema["default"] for name, schema in self.settings.items() if "default" in schema
        }
        return {**defaults, **config}


@dataclass(frozen=True, kw_only=True)
class ResourceRule(PolicyInfo):
    """Decorates a function that says what is wrong with a resource, and defers unknowns."""

    remediate: Callable[[ResourceValidationArgs], Awaitable[Mapping[str, Any]]] | None = None

    def __call__(self, judge: ResourceJudge) -> ResourceValidationPolicy:
        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            self.judge_settings(named["name"], args, report)
            unknowns, args.props = Unknowns(), _read(args.props)
            settings = self.settings_in(args.get_config())

            def passes(_: str) -> bool:
                return CONFIGURED.passes(named["name"], settings, args.urn)

            with unknowns.deferred():
                for finding in judge(args, settings, unknowns):
                    if not passes(args.urn):
                        report(finding, None)
            unknowns.raise_now(passes)

        async def mend(args: ResourceValidationArgs) -> Mapping[str, Any]:
            unknowns = Unknowns()
            made: Mapping[str, Any] = {}
            with unknowns.deferred():
                made = await self.remediate(args) if self.remediate else {}
            unknowns.raise_now(lambda _: False)
            return made

        named = self.arguments(judge.__name__)
        remediate = mend if self.remediate else None
        return ResourceValidationPolicy(validate=validate, remediate=remediate, **named)


@dataclass(frozen=True, kw_only=True)
class PoolRule(PolicyInfo):
    """Decorates a function that says what is wrong with an agent pool.

    With `provisioned` it judges nodes that are made without a pool, too. Such a rule is advisory:
    of several sizes that are named, nobody knows which will be made.
    """

    provisioned: bool = False

    def __call__(self, judge: PoolJudge) -> ResourceValidationPolicy:
        # The rule has its name from the function that it is given.
        @wraps(judge)
        def judge_pools(
            args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
        ) -> Findings:
            pools = pools_of(args.resource_type, args.props)
            others = provisioned(args.resource_type, args.props) if self.provisioned else ()
            return unknowns.each(
                chain(pools, others),
                lambda pool: (f"{pool.label} {finding}" for finding in judge(pool, settings)),
            )

        of_all = {one.name: getattr(self, one.name) for one in fields(PolicyInfo)}
        return ResourceRule(**of_all)(judge_pools)


def strings(description: str, **more: Any) -> Mapping[str, Any]:
    """The schema of a setting that is a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description, **more}
