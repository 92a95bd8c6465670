"""Rules on all resources of a stack together.

The engine passes the outputs of resources to a rule on a stack. In a preview, these can contain
less than the inputs: a resource on a cluster that does not exist yet has no outputs at all, and
azure-native's node pools have outputs without their names. So a rule on a stack is also a rule on
resources, which only notes the inputs.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
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

from aks_pools.pools import (
    Pool,
    inline_pool_names,
    is_cluster,
    pools_of,
    standalone_pool_names,
)
from policies.configuration import CONFIGURATION
from policies.rule import STACK, PolicyInfo, Settings, inputs_of, judged
from policies.unknowns import Unknowns


@dataclass(frozen=True)
class Member:
    """A resource of the stack, with its inputs."""

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

    @property
    def provider_urn(self) -> str:
        """The URN of the provider; empty if the engine does not name one."""
        return self.resource.provider.urn if self.resource.provider else ""

    def clusters(self, *properties: str) -> set[str]:
        """The URNs of the clusters in this stack that these properties depend on."""
        dependencies = self.resource.property_dependencies
        return {
            resource.urn
            for name in properties
            for resource in dependencies.get(name, ())
            if is_cluster(resource.resource_type)
        }


Members = Sequence[Member]
# The message and the URN of each finding.
StackFindings = Iterator[tuple[str, str]]
StackJudge = Callable[[Members, Settings, Unknowns], StackFindings]


@dataclass(frozen=True)
class StackPool:
    """One agent pool of the stack."""

    member: Member
    pool: Pool

    def clusters(self) -> set[str]:
        """The URNs of the pool's cluster; empty if the cluster is not a resource of this stack."""
        if self.pool.inline:
            return {self.member.urn}
        return self.member.clusters("resourceName", "kubernetesClusterId")


def pools_in(members: Collection[Member], unknowns: Unknowns) -> Iterator[StackPool]:
    """Yields all agent pools of a stack, each once."""
    names = (standalone_pool_names(member.type, member.properties) for member in members)
    standalone = {*names} - {None}

    def pools(member: Member) -> Iterator[StackPool]:
        inputs = member.properties
        for pool in pools_of(member.type, inputs):
            if not (pool.inline and inline_pool_names(inputs, pool.properties) in standalone):
                yield StackPool(member, pool)

    return unknowns.each(members, pools)


def judge_pools(
    pools: Iterable[StackPool],
    unknowns: Unknowns,
    judge: Callable[[StackPool], Iterator[Any]],
    *certainty: object,
) -> Iterator[Any]:
    """Yields the findings on each pool, each after its certainty, if the judge has one."""
    return unknowns.each(
        pools,
        lambda found: judged(
            found.pool,
            judge(found),
            lambda odd: (*certainty, f"{found.pool.label} {odd}", found.member.urn),
        ),
    )


class StackRule(PolicyInfo):
    """Decorates a function that judges all resources of a stack together."""

    def __call__(self, judge: StackJudge) -> StackValidationPolicy:
        return StackPolicy(self, judge)


class StackPolicy(ResourceValidationPolicy, StackValidationPolicy):
    """A rule on a stack, which also notes the inputs of each resource."""

    def __init__(self, info: PolicyInfo, judge: StackJudge) -> None:
        # The constructors of the two base classes only take the functions to call.
        Policy.__init__(self, **info.arguments(judge))
        self._info = info
        self._judge = judge

    def has_validation(self) -> bool:
        return True

    def has_remediation(self) -> bool:
        return False

    def validate(
        self, args: ResourceValidationArgs | StackValidationArgs, report_violation: ReportViolation
    ) -> None:
        if isinstance(args, ResourceValidationArgs):
            self._info.judge_settings(args, report_violation)
            inputs_of(args)
            return
        unknowns = Unknowns()
        members = [Member(resource, inputs_of(resource)) for resource in args.resources]
        settings = self._info.settings_in(args.get_config())
        stack = next((member.urn for member in members if member.type == STACK), "")

        def excepts(urn: str) -> bool:
            return CONFIGURATION.excepts(self.name, settings, urn or stack)

        with unknowns.deferred():
            for message, urn in self._judge(members, settings, unknowns):
                if not excepts(urn):
                    report_violation(message, urn)
        unknowns.raise_now(excepts)
