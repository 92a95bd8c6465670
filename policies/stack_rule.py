"""Rules on the resources of a stack together.

The engine hands the outputs of resources to a rule on a stack. Before an update these can say less
than the program did: a resource whose provider's settings are not known yet, as everything on a
cluster that is still to be made, comes with nothing at all; azure-native's pools come without their
names. So a rule on a stack is also one on resources, in which it only notes what the program says.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pulumi_policy import (
    Policy,
    PolicyResource,
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from policies.exceptions import CONFIGURED
from policies.pools import is_cluster
from policies.reading import Whose, reading
from policies.rule import STACK, PolicyInfo, Settings
from policies.shapes import RESOURCE
from policies.unknowns import Unknowns


@dataclass(frozen=True)
class Member:
    """A resource of the stack, with what the program says of it."""

    resource: PolicyResource
    properties: Mapping[str, Any]

    @property
    def type(self) -> str:
        return self.resource.resource_type

    @property
    def urn(self) -> str:
        return self.resource.urn

    @property
    def name(self) -> str:
        return self.resource.name

    def clusters(self, *properties: str) -> set[str]:
        """The clusters of this stack that these properties come of."""
        depends = self.resource.property_dependencies
        return {
            one.urn
            for name in properties
            for one in depends.get(name, ())
            if is_cluster(one.resource_type)
        }


Members = Sequence[Member]
# What is wrong, and with which resource.
StackFindings = Iterator[tuple[str, str]]
StackJudge = Callable[[Members, Settings, Unknowns], StackFindings]


class StackRule(PolicyInfo):
    """Decorates a function that says what is wrong with the resources together."""

    def __call__(self, judge: StackJudge) -> StackValidationPolicy:
        return _StackPolicy(self, judge)


class _StackPolicy(ResourceValidationPolicy, StackValidationPolicy):
    def __init__(self, info: PolicyInfo, judge: StackJudge) -> None:
        # Either parent's own does no more than take functions, of which this one has none.
        Policy.__init__(self, **info.arguments(judge.__name__))
        self._info = info
        self._judge = judge
        self._said: dict[str, Mapping[str, Any]] = {}

    def has_validation(self) -> bool:
        return True

    def has_remediation(self) -> bool:
        return False

    def validate(
        self, args: ResourceValidationArgs | StackValidationArgs, report_violation: ReportViolation
    ) -> None:
        if isinstance(args, ResourceValidationArgs):
            self._info.judge_settings(self.name, args, report_violation)
            self._said[args.urn] = args.props
            return
        unknowns = Unknowns()
        members = [
            Member(found, reading(self._said.get(found.urn, found.props), RESOURCE, whose))
            for found in args.resources
            for whose in [Whose(found.name, found.resource_type, found.urn)]
        ]
        settings = self._info.settings_in(args.get_config())
        stack = next((one.urn for one in members if one.type == STACK), "")

        def passes(urn: str) -> bool:
            return CONFIGURED.passes(self.name, settings, urn or stack)

        with unknowns.deferred():
            for message, urn in self._judge(members, settings, unknowns):
                if not passes(urn):
                    report_violation(message, urn)
        unknowns.raise_now(passes)
