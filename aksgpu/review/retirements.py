"""Makes findings about retired sizes and images mandatory for new pools, which Azure refuses.

The pack does not see what exists already, and an existing pool may keep a retired size. A review
sees both.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from pulumi.automation.events import StepEventStateMetadata

from aksgpu.review.model import Violation
from aksgpu.review.pools import all_pools
from aksgpu.review.preview_result import Step, inputs_of
from policies.gpu_requests import specialized_image_headers

_SIZE, _IMAGE = "gpu-size-retired", "gpu-image-retired"
_NEW = " The pool is new, and Azure refuses new ones."
_REMEDY = " To allow it in a review of this program, set allowRetired: true in the stack file."


def refuse_new(findings: Iterable[Violation], steps: Mapping[str, Step]) -> list[Violation]:
    """The findings; those about new pools with a retired size or image become mandatory."""
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
    """Whether this step adds the retired size or header that the finding is about."""
    if step.kind not in ("create", "replace", "update"):
        return False
    # A replacement creates a new resource.
    before = step.old if step.kind == "update" else None
    if finding.rule == _SIZE:
        existing = {(pool.name, pool.vm_size) for pool in all_pools(step.resource, before)}
        added = (
            pool
            for pool in all_pools(step.resource, step.new)
            if (pool.name, pool.vm_size) not in existing
        )
        return any(f"{pool.label} has {pool.vm_size}, " in finding.message for pool in added)
    return not _headers(before) and any(
        f"The custom header {header} asks " in finding.message for header in _headers(step.new)
    )


def _headers(state: StepEventStateMetadata | None) -> list[str]:
    return list(specialized_image_headers(inputs_of(state)))
