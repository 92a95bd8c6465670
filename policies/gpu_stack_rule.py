"""Rules on the GPU software of a stack: each refuses what is certain, one tells the rest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps

from pulumi_policy import EnforcementLevel, Severity, StackValidationPolicy

from policies.certainty import Certainty, StackFinding
from policies.gpu_stack import GpuStack
from policies.rule import PolicyInfo, Settings
from policies.stack_rule import Members, StackFindings, StackPolicy
from policies.unknowns import Unknowns

Finder = Callable[[GpuStack, Unknowns], Iterator[StackFinding]]
# What the rules look for.
FINDERS: list[Finder] = []


@dataclass(frozen=True, kw_only=True)
class GpuStackRule(PolicyInfo):
    """Decorates a function that finds what is certain, which the rule refuses, and possible."""

    level: EnforcementLevel = EnforcementLevel.MANDATORY
    severity: Severity = Severity.HIGH

    def __call__(self, find: Finder) -> StackValidationPolicy:
        FINDERS.append(find)

        # With the name of the function, for the rule.
        @wraps(find)
        def judge(members: Members, _: Settings, unknowns: Unknowns) -> StackFindings:
            for certainty, message, urn in find(GpuStack(members, unknowns), unknowns):
                if certainty is Certainty.CERTAIN:
                    yield message, urn

        return StackPolicy(self, judge)
