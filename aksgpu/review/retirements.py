"""Which findings about what is retired are about something new: Azure refuses that.

The pack does not see what is there already, and a stack that has it goes on to take changes. A
review sees both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from aksgpu.review.model import Violation
from aksgpu.review.pools import all_pools
from aksgpu.review.seen import Step
from policies.gpu_requests import specialised_image_headers

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
    if step.kind == "update":
        more = _sizes_added(step) if finding.rule == _SIZE else _headers_added(step)
        return any(added in finding.message for added in more)
    return step.kind in ("create", "replace")


def _sizes_added(step: Step) -> set[str]:
    """The sizes of pools that a cluster did not have, or had with another size."""
    before = {(pool.name, pool.vm_size) for pool in all_pools(step.resource, step.old)}
    after = {(pool.name, pool.vm_size) for pool in all_pools(step.resource, step.new)}
    return {vm_size for _, vm_size in after - before}


def _headers_added(step: Step) -> set[str]:
    before, after = (
        set(specialised_image_headers((state and state.inputs) or {}))
        for state in (step.old, step.new)
    )
    return set() if before else after
