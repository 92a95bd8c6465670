"""What is retired is refused in new pools, and told of in those that are there."""

from typing import Any

import pytest

from aksgpu.review.retirements import refuse_new
from tests.aksgpu.review.reviews import CLUSTER, CPU, T4, policy, seen, step

OLD, OLDER = "Standard_NC6s_v3", "Standard_NC6"
POOL = {"agentPoolName": "gpu", "vmSize": OLD, "count": 2}
ASKS = {"customHeaders": {"UseGPUDedicatedVHD": "true"}}


def is_refused(rule: str, event: Any) -> bool:
    """Whether a review refuses what a rule has found, in whatever words."""
    metadata = event.resource_pre_event.metadata
    finding = policy("Some text.", "gpu", "advisory", rule=rule, pack="aks-gpu-policies")
    assert finding.policy_event
    finding.policy_event.resource_urn = metadata.urn
    preview = seen(event, finding)
    (judged,) = refuse_new(preview.findings, preview.steps)
    assert ("This change adds the " in judged.message) == judged.mandatory
    assert ("allowRetired: true" in judged.remedy) == judged.mandatory
    return judged.mandatory


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
    assert is_refused("gpu-size-retired", event) is expected
    assert not is_refused("another-rule", event)


@pytest.mark.parametrize(
    ("added", "expected"),
    [
        ([], False),
        ([{"name": "new", "vmSize": OLD}], True),
        ([{"name": "new", "vmSize": T4}], False),
        # Another retired size, in the pool's place.
        ([{"name": "old", "vmSize": OLDER}], True),
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
    assert is_refused("gpu-size-retired", event) is expected


def test_a_tag_that_aks_ignores_is_accepted() -> None:
    """New pools were refused for it."""
    tagged = POOL | {"tags": {"SkipGPUDriverInstall": "true"}}
    assert not is_refused("gpu-image-retired", step("create", "gpu", None, tagged))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [({}, ASKS, True), (ASKS, ASKS, False), (ASKS, ASKS | {"count": 1}, False)],
)
def test_a_retired_image_of_a_new_pool_is_refused(
    old: dict[str, Any], new: dict[str, Any], expected: bool
) -> None:
    """A new pool with the image passed: the review looked for words that the rule had changed."""
    event = step("update", "gpu", POOL | old, POOL | new)
    assert is_refused("gpu-image-retired", event) is expected


def test_a_finding_without_a_resource_is_unchanged() -> None:
    preview = seen(policy("Some text.", "", "advisory", rule="gpu-size-retired"))
    assert refuse_new(preview.findings, preview.steps) == preview.findings
