from typing import Any

import pytest

from aks_catalogue.sizes import FLOOR, gpu_sizes, is_below
from policies.rules.gpu_pool_minimum_size import gpu_pool_minimum_size
from policies.rules.gpu_size_unknown import gpu_size_unknown
from tests.policies.policy_harness import findings, mention
from tests.policies.pool_variants import AGENT_POOL, CPU, changed

A10, NEW = "Standard_NV6ads_A10_v5", "Standard_NC9_v9"


def judged(vm_size: str, **config: Any) -> list[str]:
    return findings(
        gpu_pool_minimum_size, AGENT_POOL.resource(changed({"vmSize": vm_size})), config=config
    )


@pytest.mark.parametrize(
    ("vm_size", "is_enough"),
    [
        # The smallest size of AKS's own pages: a whole T4, with less vCPUs than the floor.
        ("standard_nc4as_t4_v3", True),
        # Half of a GPU, with 48 GB, was refused as less than a K80 of 2014 with 12 GB.
        ("Standard_NC36ds_xl_RTXPRO6000BSE_v6", True),
        ("Standard_NV18ads_A10_v5", True),
        ("Standard_NV12ads_A10_v5", False),
    ],
)
def test_a_size_counts_by_its_gpus_and_their_memory(vm_size: str, is_enough: bool) -> None:
    assert (judged(vm_size) == []) == is_enough
    size, floor = gpu_sizes()[vm_size.lower()], gpu_sizes()[FLOOR.lower()]
    assert is_below(size, floor) != is_enough


def test_accepted_sizes_and_the_floor_are_settings() -> None:
    assert mention(judged(A10), [(A10, "below Standard_NC6", "4 GiB", "12")])
    assert judged(A10, acceptedSizes=[A10.lower()]) == []
    assert judged(A10, acceptedSizes=["other"]) != []
    assert judged(A10, floor=A10) == []
    raised = judged("Standard_NC8as_T4_v3", floor="Standard_NC24ads_A100_v4")
    assert mention(raised, [("Standard_NC24ads_A100_v4", "16 GiB", "80")])


@pytest.mark.parametrize("vm_size", [CPU, NEW, "Standard_NC6", "Standard_NV12s_v3", "Standard_NV6"])
def test_others_unknown_and_retired_sizes_pass(vm_size: str) -> None:
    """Only old stacks have these: with two GPUs of 8 GiB they took no change any more."""
    assert judged(vm_size) == []


@pytest.mark.parametrize("vm_size", [NEW, *(n for n, size in gpu_sizes().items() if not size.gpus)])
def test_unknown_sizes_are_reported_by_a_rule_of_their_own(vm_size: str) -> None:
    unknown = AGENT_POOL.resource(changed({"vmSize": vm_size}))
    (found,) = findings(gpu_size_unknown, unknown)
    assert f"has the GPU size {vm_size}" in found
    assert findings(gpu_size_unknown, unknown, config={"acceptedSizes": [vm_size.upper()]}) == []
    assert judged(vm_size) == []
