"""GPUs before and after, by size."""

from typing import Any

import pytest
from pulumi.runtime.rpc import UNKNOWN

from aksgpu.review.model import Span, states_of, sum_of
from aksgpu.review.pools import NOT_KNOWN_YET
from tests.aksgpu.review.reviews import (
    A100,
    CLASSIC_CLUSTER,
    CLUSTER,
    CPU,
    T4,
    counted,
    pools_of,
    seen,
    span,
    step,
)

A100_TWICE = "Standard_NC48ads_A100_v4"
FIXED = {"agentPoolName": "p", "vmSize": T4, "count": 2}
SCALED = {"vmSize": A100, "enableAutoScaling": True, "minCount": 0, "maxCount": 3, "count": 1}

Row = tuple[str, Span | None, Span | None, Span | None, Span | None]


def rows(*events: Any) -> list[Row]:
    pools = pools_of(seen(*events))
    gpus = counted(pools)
    return [(size, *nodes, *gpus[size]) for size, nodes in counted(pools, "nodes").items()]


@pytest.mark.parametrize(
    ("pool", "size", "nodes", "gpus"),
    [
        (FIXED, T4, (2, 2), (2, 2)),
        # As the engine writes numbers; and in any case.
        (FIXED | {"count": 2.0, "vmSize": T4.lower()}, T4, (2, 2), (2, 2)),
        # One is what AKS takes by itself.
        ({"vmSize": T4}, T4, (1, 1), (1, 1)),
        # The count of an autoscaled pool is only where it began.
        (SCALED, A100, (0, 3), (0, 3)),
        (SCALED | {"vmSize": A100_TWICE}, A100_TWICE, (0, 3), (0, 6)),
        # Seven partitions are of one GPU.
        (SCALED | {"gpuInstanceProfile": "MIG1g"}, A100, (0, 3), (0, 3)),
    ],
)
def test_a_new_pool_is_counted_with_its_nodes_and_gpus(
    pool: dict[str, Any], size: str, nodes: tuple[int, int], gpus: tuple[int, int]
) -> None:
    none = span(0, 0)
    assert rows(step("create", "p", None, pool)) == [(size, none, span(*nodes), none, span(*gpus))]


def test_a_fraction_of_a_gpu_is_counted_as_a_fraction() -> None:
    ((*_, after),) = rows(
        step("create", "a", None, {"vmSize": "Standard_NV6ads_A10_v5", "count": 3})
    )
    assert after is not None
    assert str(after) == "1/2"


def test_sizes_are_added_up_over_all_pools_separate_and_inline() -> None:
    profiles = [{"name": "in", "vmSize": T4, "count": 3}, {"name": "sys", "vmSize": CPU}]
    inline = {"agentPoolProfiles": profiles}

    counts = rows(
        step("same", "a", FIXED, FIXED),
        step("update", "c", inline, inline, kind=CLUSTER),
        step("delete", "b", FIXED),
        step("replace", "d", FIXED, SCALED),
        step("create", "cpu", None, {"vmSize": CPU, "count": 5}),
    )

    assert counts == [
        (A100, span(0, 0), span(0, 3), span(0, 0), span(0, 3)),
        (T4, span(9, 9), span(5, 5), span(9, 9), span(5, 5)),
    ]


@pytest.mark.parametrize(
    "kind",
    [
        "azure-native:containerservice/v20240901:AgentPool",
        "aks-preview:containerservice:AgentPool",
    ],
)
def test_pools_of_every_provider_are_counted(kind: str) -> None:
    ((*_, after),) = rows(step("create", "a", None, FIXED, kind=kind))
    assert after == span(2, 2)


def test_pools_of_the_classic_provider_are_counted() -> None:
    kind = "azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool"
    ((*_, after),) = rows(step("create", "a", None, {"vmSize": T4, "nodeCount": 3}, kind=kind))
    assert after == span(3, 3)


def test_a_virtual_machines_pool_counts_each_of_its_sizes() -> None:
    manual = [{"size": T4, "count": 2}, {"size": CPU, "count": 5}]
    autoscale = {"size": A100, "minCount": 0, "maxCount": 4}
    profile = {"scale": {"manual": manual, "autoscale": autoscale}}

    counts = rows(step("create", "a", None, {"virtualMachinesProfile": profile}))

    assert [(size, after) for size, *_, after in counts] == [(A100, span(0, 4)), (T4, span(2, 2))]


def test_a_pool_that_changes_its_provider_counts_before_and_after() -> None:
    was = "azure:containerservice/kubernetesClusterNodePool:KubernetesClusterNodePool"
    old = {"vmSize": T4, "nodeCount": 3}
    ((_, before, after, *_),) = rows(step("replace", "a", old, FIXED, old_kind=was))
    assert (before, after) == (span(3, 3), span(2, 2))


@pytest.mark.parametrize(
    ("pool", "size", "nodes"),
    [
        ({"vmSize": "Standard_NC999_new", "count": 2}, "Standard_NC999_new", span(2, 2)),
        ({"vmSize": UNKNOWN, "count": 2}, NOT_KNOWN_YET, span(2, 2)),
        ({"vmSize": T4, "count": UNKNOWN}, T4, None),
        ({"vmSize": T4, "enableAutoScaling": True, "minCount": 0, "maxCount": UNKNOWN}, T4, None),
    ],
)
def test_unknown_values_are_reported_as_unknown(
    pool: dict[str, Any], size: str, nodes: Span | None
) -> None:
    ((size_name, _, after, _, gpus),) = rows(step("create", "a", None, pool))
    assert (size_name, after, gpus) == (size, nodes, None)


@pytest.mark.parametrize("profiles", [UNKNOWN, [UNKNOWN]])
def test_unknown_inline_pools_are_not_counted_as_none(profiles: Any) -> None:
    event = step("create", "c", None, {"agentPoolProfiles": profiles}, kind=CLUSTER)
    ((size, *_, gpus),) = rows(event)
    assert (size, gpus) == (NOT_KNOWN_YET, None)


@pytest.mark.parametrize(
    "profile", [UNKNOWN, {"scale": UNKNOWN}, {"scale": {"autoscale": [{"sizes": UNKNOWN}]}}]
)
def test_unknown_virtual_machines_are_not_counted_as_none(profile: Any) -> None:
    event = step("create", "a", None, {"virtualMachinesProfile": profile})
    assert {row[0] for row in rows(event)} == {NOT_KNOWN_YET}


def test_an_unknown_default_pool_of_a_classic_cluster_is_not_missing() -> None:
    event = step("create", "c", None, {"defaultNodePool": UNKNOWN}, kind=CLASSIC_CLUSTER)
    ((size, *_, gpus),) = rows(event)
    assert (size, gpus) == (NOT_KNOWN_YET, None)


def test_the_sum_of_gpus_is_unknown_if_one_count_is() -> None:
    known = step("create", "a", None, FIXED)
    unknown = step("create", "b", None, {"vmSize": UNKNOWN})
    for events, sum_after in (((known,), span(2, 2)), ((known, unknown), None)):
        states = states_of(pools_of(seen(*events)), was=False)
        assert sum_of(state.gpus for state in states) == sum_after
