"""What is retired is refused in new pools, and told of in those that are there."""

from typing import Any

import pytest

from aksgpu.review.retirements import refuse_new
from tests.aksgpu.review.reviews import AGENT_POOL, CLUSTER, CPU, T4, policy, seen, step

OLD, OLDER = "Standard_NC6s_v3", "Standard_NC6"
POOL = {"agentPoolName": "gpu", "vmSize": OLD, "count": 2}
SIZE = f"This pool has {OLD}, which Azure retired on 2025-09-30."
IMAGE = "The custom header UseGPUDedicatedVHD asks for it."
ASKS = {"customHeaders": {"UseGPUDedicatedVHD": "true"}}


def is_refused(message: str, rule: str, event: Any) -> bool:
    urn_name = event.resource_pre_event.metadata.urn.rpartition("::")[2]
    preview = seen(event, policy(message, urn_name, "advisory", rule=rule, pack="aks-gpu-policies"))
    # The step and the finding are about the same resource.
    steps = {
        finding.resource.urn: next(iter(preview.steps.values()))
        for finding in preview.findings
        if finding.resource
    }
    (finding,) = refuse_new(preview.findings, steps)
    assert ("The pool is new, and Azure refuses new ones." in finding.message) == finding.mandatory
    assert ("allowRetired: true" in finding.remedy) == finding.mandatory
    return finding.mandatory


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (step("create", "gpu", None, POOL), True),
        (step("replace", "gpu", POOL | {"vmSize": T4}, POOL), True),
        (step("replace", "gpu", POOL, POOL), True),
        # From before the day of the retirement.
        (step("same", "gpu", POOL, POOL), False),
        (step("update", "gpu", POOL, POOL | {"count": 1}), False),
        (step("import", "gpu", None, POOL), False),
    ],
)
def test_a_retired_size_of_a_new_pool_is_refused(event: Any, expected: bool) -> None:
    assert is_refused(SIZE, "gpu-size-retired", event) is expected
    assert is_refused("It is what it is.", "another-rule", event) is False


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ([], False),
        ([{"name": "new", "vmSize": OLD}], True),
        # Of another size than the finding is about, though its name begins like that.
        ([{"name": "new", "vmSize": T4}], False),
        ([{"name": "new", "vmSize": OLDER}], False),
    ],
)
def test_a_retired_size_of_a_new_inline_pool_is_refused(
    added: list[dict[str, Any]], expected: bool
) -> None:
    there = [{"name": "system", "vmSize": CPU}, {"name": "old", "vmSize": OLD}]
    event = step(
        "update",
        "c",
        {"agentPoolProfiles": there},
        {"agentPoolProfiles": there + added},
        kind=CLUSTER,
    )
    for place in range(len(there) + len(added)):
        message = SIZE.replace("This pool", f"The inline pool agentPoolProfiles[{place}]")
        assert is_refused(message, "gpu-size-retired", event) is (expected and place == 2)


@pytest.mark.parametrize(
    ("kind", "inputs", "rule", "message"),
    [
        (
            AGENT_POOL,
            POOL,
            "gpu-image-retired",
            "This pool has the tag SkipGPUDriverInstall, which",
        ),
        ("kubernetes:karpenter.sh/v1:NodePool", {}, "gpu-size-retired", f"It may take {OLD}, T4."),
    ],
)
def test_a_tag_that_aks_ignores_and_one_of_several_sizes_are_accepted(
    kind: str, inputs: dict[str, Any], rule: str, message: str
) -> None:
    """New ones were refused for a tag that AKS ignores, and for one size of several."""
    event = step("create", "gpu", None, inputs, kind=kind)
    assert not is_refused(message, rule, event)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [({}, ASKS, True), (ASKS, ASKS, False), (ASKS, ASKS | {"count": 1}, False)],
)
def test_a_retired_image_of_a_new_pool_is_refused(
    old: dict[str, Any], new: dict[str, Any], expected: bool
) -> None:
    event = step("update", "gpu", POOL | old, POOL | new)
    assert is_refused(IMAGE, "gpu-image-retired", event) is expected


def test_a_finding_without_a_resource_is_unchanged() -> None:
    preview = seen(policy(SIZE, "", "advisory", rule="gpu-size-retired"))
    assert refuse_new(preview.findings, preview.steps) == preview.findings
