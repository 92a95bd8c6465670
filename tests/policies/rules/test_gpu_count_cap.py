from typing import Any

from pulumi_policy.proxy import UNKNOWN_NUMBER_VALUE

from policies.rules.gpu_count_cap import gpu_count_cap
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import AGENT_POOL, CPU, changed

A100X4 = "Standard_NC96ads_A100_v4"


def pool(name: str, **changes: Any) -> Resource:
    return AGENT_POOL.resource(changed(changes), name=name)


def test_pools_are_counted_at_their_most() -> None:
    scaled = pool("a", vmSize=A100X4)
    fixed = pool("b", vmSize=A100X4, enableAutoScaling=False, count=1, maxCount=None)

    assert findings(gpu_count_cap, scaled, fixed, config={"gpus": 12}) == []
    new = pool("c", vmSize="Standard_NC9_v9")
    assert findings(gpu_count_cap, scaled, fixed, new, config={"gpus": 11}) == [
        "The stack can have 12 GPUs, but only 11 are allowed: a (8), b (4)."
    ]


def test_parts_of_gpus_and_pools_of_single_machines() -> None:
    profile = {"scale": {"manual": [{"size": "Standard_NV6ads_A10_v5", "count": 3}]}}
    single = pool("a", vmSize=None, virtualMachinesProfile=profile)
    assert findings(gpu_count_cap, single, config={"gpus": 0}) == [
        "The stack can have 1/2 GPUs, but only 0 are allowed: a (1/2)."
    ]


def test_numbers_of_pools_without_gpus_are_not_read() -> None:
    of_cpus = pool("a", vmSize=CPU, maxCount=UNKNOWN_NUMBER_VALUE)
    assert findings(gpu_count_cap, of_cpus, config={"gpus": 0}) == []
