from typing import Any

import pytest

from aks_catalogue.sizes import FLOOR, gpu_sizes, is_below
from policies.rules.gpu_pool_minimum_size import gpu_pool_minimum_size
from policies.rules.gpu_size_unknown import gpu_size_unknown
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import AGENT_POOL, CPU, changed, pool_cases


def judged(vm_size: str, **config: Any) -> list[str]:
    return findings(
        gpu_pool_minimum_size, AGENT_POOL.resource(changed({"vmSize": vm_size})), config=config
    )


@pool_cases(
    [
        ({}, []),
        ({"vmSize": CPU}, []),
        ({"vmSize": "Standard_NC6"}, []),
        ({"vmSize": "standard_nc6"}, []),
        # The smallest size of AKS's own pages: a whole T4, with less vCPUs than the floor.
        ({"vmSize": "Standard_NC4as_T4_v3"}, []),
        (
            {"vmSize": "Standard_NV6ads_A10_v5"},
            [("Standard_NV6ads_A10_v5", "below Standard_NC6", "4 GiB", "12")],
        ),
        ({"vmSize": "Standard_NC9_v9"}, []),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_minimum_size, pool), expected)


@pytest.mark.parametrize(
    ("vm_size", "is_enough"),
    [
        ("Standard_NC72ds_xl_RTXPRO6000BSE_v6", True),
        ("Standard_NC36ds_xl_RTXPRO6000BSE_v6", True),
        ("Standard_NV18ads_A10_v5", True),
        ("Standard_NV12ads_A10_v5", False),
    ],
)
def test_a_part_of_a_gpu_counts_by_its_memory(vm_size: str, is_enough: bool) -> None:
    """Half of a GPU, with 48 GB, was refused as less than a K80 of 2014 with 12 GB."""
    assert (judged(vm_size) == []) == is_enough
    size, floor = gpu_sizes()[vm_size.lower()], gpu_sizes()[FLOOR.lower()]
    assert is_below(size, floor) != is_enough


def test_sizes_that_are_accepted_are_not_compared() -> None:
    assert judged("Standard_NV6ads_A10_v5", acceptedSizes=["standard_nv6ads_a10_v5"]) == []
    assert judged("Standard_NV6ads_A10_v5", acceptedSizes=["other"]) != []


def test_the_floor_can_be_raised_and_lowered() -> None:
    raised = judged("Standard_NC8as_T4_v3", floor="Standard_NC24ads_A100_v4")
    assert mention(raised, [("Standard_NC24ads_A100_v4", "16 GiB", "80")])
    assert judged("Standard_NV6ads_A10_v5", floor="Standard_NV6ads_A10_v5") == []


def test_retired_sizes_pass() -> None:
    """Only old stacks have it: with two GPUs of 8 GiB they took no change any more."""
    for vm_size in ("Standard_NV12s_v3", "Standard_NV6"):
        assert judged(vm_size) == []


# What the table does not know is told by a rule of its own.


def told(vm_size: str, **config: Any) -> list[str]:
    return findings(
        gpu_size_unknown, AGENT_POOL.resource(changed({"vmSize": vm_size})), config=config
    )


@pytest.mark.parametrize(
    "vm_size",
    ["Standard_NC9_v9", *(name for name, size in gpu_sizes().items() if not size.gpus)],
)
def test_unknown_sizes_are_reported(vm_size: str) -> None:
    (found,) = told(vm_size)
    assert "acceptedSizes" in found
    assert told(vm_size, acceptedSizes=[vm_size.upper()]) == []
    assert judged(vm_size) == []
