"""The decorators that make a rule, and the settings that every rule has."""

import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    Severity,
)

from aks_catalogue.address import REPOSITORY
from aks_pools.pools import Pool, pools_of
from aks_pools.values import OddValueError
from policies import exceptions
from policies.configuration import CONFIGURATION
from policies.reading import reading
from policies.unknowns import Unknowns

PAGE = f"https://{REPOSITORY}/blob/main/docs/reference/rules.md"

Settings = Mapping[str, Any]
# A message for each finding.
Findings = Iterator[str]
ResourceJudge = Callable[[ResourceValidationArgs, Settings, Unknowns], Findings]
PoolJudge = Callable[[Pool, Settings], Findings]
_Finding = TypeVar("_Finding")

# The type of the stack itself, the first resource that the engine sends.
STACK = "pulumi:pulumi:Stack"

# A setting, because JSON has no comments.
_REASON = {"type": "string", "description": "The reason for this level or these settings."}
# By URN, the inputs of each resource of this run, which all rules share.
_INPUTS: dict[str, tuple[Any, Mapping[str, Any]]] = {}


def inputs_of(resource: ResourceValidationArgs | PolicyResource) -> Mapping[str, Any]:
    """Returns the inputs of a resource, as the rules read them."""
    props, known = _INPUTS.get(resource.urn, (None, {}))
    is_stacks = isinstance(resource, PolicyResource)
    # The engine gives a rule on the stack the outputs, which can have less.
    if props is not None and (is_stacks or props is resource.props):
        return known
    known = reading(resource.props, resource.name, resource.resource_type, resource.urn)
    if not is_stacks:
        _INPUTS[resource.urn] = resource.props, known
    return known


def judged(
    pool: Pool, findings: Iterator[_Finding], odd: Callable[[str], _Finding]
) -> Iterator[_Finding]:
    """The findings on a pool, with one for a value of a GPU pool that no rule can read."""
    try:
        yield from findings
    except OddValueError as error:
        if pool.gpu_sizes():
            yield odd(f"cannot be judged: {error}. Correct it.")


@dataclass(frozen=True, kw_only=True)
class PolicyInfo:
    """A rule's description. Settings are JSON schemas, by name, with their defaults.

    Without a description, the rule's is the first paragraph of its file, and so is its title.
    """

    title: str = ""
    description: str = ""
    remedy: str
    tags: tuple[str, ...]
    level: EnforcementLevel = EnforcementLevel.ADVISORY
    severity: Severity = Severity.MEDIUM
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def arguments(self, judge: Callable[..., Any]) -> dict[str, Any]:
        """The arguments of every kind of policy. A rule is named after its function."""
        name = judge.__name__.replace("_", "-")
        about = (sys.modules[judge.__module__].__doc__ or "").partition("\n\n")[0]
        description = self.description or " ".join(about.split())
        return {
            "name": name,
            "display_name": self.title or description.rstrip("."),
            "description": description,
            "enforcement_level": self.level,
            "severity": self.severity,
            "remediation_steps": self.remedy,
            "tags": list(self.tags),
            "url": f"{PAGE}#{name}",
            "config_schema": PolicyConfigSchema(
                {setting: dict(schema) for setting, schema in self.schemas.items()}
            ),
        }

    @property
    def schemas(self) -> dict[str, Mapping[str, Any]]:
        """The schemas of the rule's settings, and of those that every rule has."""
        return {**self.settings, "reason": _REASON, exceptions.SETTING: exceptions.SCHEMA}

    def judge_settings(self, args: ResourceValidationArgs, report: ReportViolation) -> None:
        """Reports, once a run, settings that the rule does not have. The engine ignores them."""
        if args.resource_type != STACK:
            return
        known = self.schemas
        for setting in args.get_config():
            if setting not in known:
                report(f"The rule has no setting {setting}: use one of {', '.join(known)}.", None)

    def settings_in(self, config: Mapping[str, Any]) -> Settings:
        """The rule's configured settings, and the defaults of the others."""
        defaults = {
            name: schema["default"] for name, schema in self.settings.items() if "default" in schema
        }
        return {**defaults, **config}


@dataclass(frozen=True, kw_only=True)
class ResourceRule(PolicyInfo):
    """Decorates a function that judges one resource. Errors of unknown values are deferred."""

    remediate: Callable[[ResourceValidationArgs], Awaitable[Mapping[str, Any]]] | None = None

    def __call__(self, judge: ResourceJudge) -> ResourceValidationPolicy:
        def validate(args: ResourceValidationArgs, report: ReportViolation) -> None:
            self.judge_settings(args, report)
            unknowns, args.props = Unknowns(), inputs_of(args)
            settings = self.settings_in(args.get_config())

            def excepts(_: str) -> bool:
                return CONFIGURATION.excepts(arguments["name"], settings, args.urn)

            with unknowns.deferred():
                for finding in judge(args, settings, unknowns):
                    if not excepts(args.urn):
                        report(finding, None)
            unknowns.raise_now(excepts)

        async def remediate(args: ResourceValidationArgs) -> Mapping[str, Any]:
            unknowns = Unknowns()
            properties: Mapping[str, Any] = {}
            with unknowns.deferred():
                properties = await self.remediate(args) if self.remediate else {}
            unknowns.raise_now(lambda _: False)
            return properties

        arguments = self.arguments(judge)
        remediation = remediate if self.remediate else None
        return ResourceValidationPolicy(validate=validate, remediate=remediation, **arguments)


@dataclass(frozen=True, kw_only=True)
class PoolRule(PolicyInfo):
    """Decorates a function that judges one agent pool."""

    def __call__(self, judge: PoolJudge) -> ResourceValidationPolicy:
        # With the name of the function, for the rule.
        @wraps(judge)
        def judge_pools(
            args: ResourceValidationArgs, settings: Settings, unknowns: Unknowns
        ) -> Findings:
            return unknowns.each(
                pools_of(args.resource_type, args.props),
                lambda pool: (
                    f"{pool.label} {finding}"
                    for finding in judged(pool, judge(pool, settings), lambda odd: odd)
                ),
            )

        return ResourceRule(**vars(self))(judge_pools)


def strings(description: str, **more: Any) -> Mapping[str, Any]:
    """Returns the schema of a setting that is a list of strings."""
    return {"type": "array", "items": {"type": "string"}, "description": description, **more}
