"""Which findings about what is retired are about something new: Azure refuses that.

The pack does not see what is there already, and a stack that has it goes on to take changes. A
review sees both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pulumi.automation.events import StepEventStateMetadata

from aksgpu.review.model import Violation
from aksgpu.review.pools import all_pools
from aksgpu.review.seen import Step, inputs_of
from policies.gpu_requests import specialized_image_headers

_SIZE, _IMAGE = "gpu-size-retired", "gpu-image-retired"
_NEW = " It is new, and Azure refuses new ones."
_REMEDY = " With allowRetired: true in its stack file, a review of this program lets it pass."


def refuse_new(findings: Iterable[Violation], steps: Mapping[str, Step]) -> list[Violation]:
    """The findings; those that are about new pools with what is retired count as mandatory."""
    return [_judged(finding, steps) for finding in findings]


def _judged(finding: Violation, steps: Mapping[str, Step]) -> Violation:
    step = steps.get(finding.resource.urn) if finding.resource else None
    if finding.rule not in (_SIZE, _IMAGE) or step is None or not _is_new(finding, step):
        return finding
    return replace(
        finding,
        mandatory=True,
        message=finding.message + _NEW,
        remedy=finding.remedy + _REMEDY,
    )


def _is_new(finding: Violation, step: Step) -> bool:
    """Whether what is retired has come with this step: the size of a pool, or a header."""
    if step.kind not in ("create", "replace", "update"):
        return False
    # What is replaced is made anew.
    before = step.old if step.kind == "update" else None
    if finding.rule == _SIZE:
        there = {(pool.name, pool.vm_size) for pool in all_pools(step.resource, before)}
        added = (
            pool
            for pool in all_pools(step.resource, step.new)
            if (pool.name, pool.vm_size) not in there
        )
        return any(f"{pool.label} has {pool.vm_size}, " in finding.message for pool in added)
    return not _headers(before) and any(
        f"The custom header {header} asks " in finding.message for header in _headers(step.new)
    )


def _headers(state: StepEventStateMetadata | None) -> list[str]:
    return list(specialized_image_headers(inputs_of(state)))
