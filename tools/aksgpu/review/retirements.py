"""Makes findings about retired sizes and images mandatory where a change adds what is retired.

The pack does not see what exists already, and an existing pool may keep a retired size. A review
sees both, so it asks the catalogue about the states before and after; a finding is only text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pulumi.automation.events import StepEventStateMetadata

from aks_catalogue.retirement import has_passed
from aks_catalogue.sizes import find
from aks_pools.gpus import specialized_image_headers
from aksgpu.review.model import Violation
from aksgpu.review.pools import all_pools
from aksgpu.review.preview_result import Step, inputs_of

_REMEDY = " To allow it in a review of this program, set allowRetired: true in the stack file."


def refuse_new(findings: Iterable[Violation], steps: Mapping[str, Step]) -> list[Violation]:
    """The findings; those about a resource that gets something retired become mandatory."""
    return [_judged(finding, steps) for finding in findings]


def _judged(finding: Violation, steps: Mapping[str, Step]) -> Violation:
    step = steps.get(finding.resource.urn) if finding.resource else None
    added = list(_added(finding.rule, step)) if step else []
    if not added:
        return finding
    return replace(
        finding,
        mandatory=True,
        message=f"{finding.message} This change adds {', '.join(added)}: Azure refuses that.",
        remedy=finding.remedy + _REMEDY,
    )


def _added(rule: str, step: Step) -> Iterator[str]:
    """What this step adds of what the rule is about."""
    if step.kind not in ("create", "replace", "update"):
        return
    # A replacement creates a new resource.
    before = step.old if step.kind == "update" else None
    if rule == "gpu-size-retired":
        existing = {(pool.name, pool.vm_size) for pool in all_pools(step.resource, before)}
        for pool in all_pools(step.resource, step.new):
            size = find(pool.vm_size)
            if size and has_passed(size.retired_on) and (pool.name, pool.vm_size) not in existing:
                yield f"the pool {pool.name} with {pool.vm_size}"
    elif rule == "gpu-image-retired" and not _headers(before):
        for header in _headers(step.new):
            yield f"the custom header {header}"


def _headers(state: StepEventStateMetadata | None) -> list[str]:
    return list(specialized_image_headers(inputs_of(state)))
