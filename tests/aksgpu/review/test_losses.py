"""Which GPU pools go, why, and whether they may."""

from typing import Any

import pytest

from aksgpu.review.losses import lost_pools
from aksgpu.review.model import LostPool
from tests.aksgpu.review.reviews import A100, CLUSTER, CPU, GROUP, T4, seen, step

IN = {"resourceGroupName": "g", "resourceName": "c"}
POOL = {**IN, "agentPoolName": "gpu", "vmSize": T4, "count": 2}


def losses(*events: Any, allowed: tuple[str, ...] = ()) -> list[LostPool]:
    return lost_pools(list(seen(*events).steps.values()), allowed)


def told(*events: Any) -> list[tuple[str, str, str]]:
    return [(loss.kind, loss.pool, loss.why) for loss in losses(*events)]


def test_a_pool_that_is_replaced_is_told_in_plain_words() -> None:
    (loss,) = losses(step("replace", "gpu", POOL, POOL | {"vmSize": A100}, keys=["vmSize"]))

    assert loss.message == (
        f"The GPU pool gpu ({T4}, 2 nodes) is replaced, on account of vmSize. Azure deletes it, "
        "with its nodes and all that runs on them, and whether as many GPUs can be had again is "
        "not certain."
    )
    assert loss.remedy == "Take the change back, or allow it with --allow-replace gpu."


def test_a_pool_that_is_deleted_is_told() -> None:
    (loss,) = losses(step("delete", "gpu", POOL))
    assert (loss.kind, loss.allowed) == ("delete", False)
    assert loss.message.startswith(f"The GPU pool gpu ({T4}, 2 nodes) is deleted. Azure deletes it")


@pytest.mark.parametrize(
    "event",
    [
        step("update", "gpu", POOL, POOL | {"count": 3}),
        step("same", "gpu", POOL, POOL),
        step("create", "gpu", None, POOL),
        step("replace", "cpu", POOL | {"vmSize": CPU}, POOL),
        step("delete", "cpu", POOL | {"vmSize": CPU}),
        # It is only forgotten.
        step("delete", "gpu", POOL, retain_on_delete=True),
        # An earlier update has put another in its place.
        step("delete", "gpu", POOL, delete=True),
    ],
)
def test_nothing_goes(event: Any) -> None:
    assert losses(event) == []


@pytest.mark.parametrize(("name", "allowed"), [("gpu", True), ("r", True), ("other", False)])
def test_those_that_may_go_are_named_by_pool_or_resource(name: str, *, allowed: bool) -> None:
    (loss,) = losses(step("delete", "r", POOL), allowed=(name,))
    assert loss.allowed is allowed


PROFILES = [{"name": "sys", "vmSize": CPU}, {"name": "in", "vmSize": T4}]
INLINE = {**IN, "agentPoolProfiles": PROFILES}


@pytest.mark.parametrize(
    ("event", "losses_told"),
    [
        (
            step("delete", "cluster", INLINE, kind=CLUSTER),
            [("delete", "in", " with cluster")],
        ),
        (
            step("replace", "cluster", INLINE, INLINE, kind=CLUSTER, keys=["location"]),
            [("replace", "in", " with cluster, on account of location")],
        ),
        (
            step(
                "update", "cluster", INLINE, {**IN, "agentPoolProfiles": PROFILES[:1]}, kind=CLUSTER
            ),
            [("delete", "in", ", since the cluster cluster is without it")],
        ),
        (
            step(
                "update",
                "cluster",
                INLINE,
                {**IN, "agentPoolProfiles": [PROFILES[0], {"name": "in", "vmSize": A100}]},
                kind=CLUSTER,
            ),
            [("replace", "in", ", on account of vmSize")],
        ),
        (step("update", "cluster", INLINE, INLINE, kind=CLUSTER), []),
    ],
)
def test_inline_pools(event: Any, losses_told: list[tuple[str, str, str]]) -> None:
    assert told(event) == losses_told


def test_pools_go_with_their_cluster() -> None:
    cluster = step("replace", "cluster", IN, IN, kind=CLUSTER)
    other = POOL | {"resourceName": "another", "agentPoolName": "other"}

    assert told(cluster, step("same", "gpu", POOL, POOL), step("same", "other", other, other)) == [
        ("replace", "gpu", ", since its cluster cluster is replaced")
    ]


def test_pools_go_with_their_resource_group() -> None:
    group = step("delete", "group", {"resourceGroupName": "g"}, kind=GROUP)
    assert told(group, step("update", "gpu", POOL, POOL)) == [
        ("delete", "gpu", ", since its resource group group is deleted")
    ]


def test_a_pool_that_goes_by_itself_is_told_once() -> None:
    cluster = step("replace", "cluster", IN, IN, kind=CLUSTER)
    pool = step("replace", "gpu", POOL, POOL, keys=["resourceName"])
    assert told(cluster, pool) == [("replace", "gpu", ", on account of resourceName")]
