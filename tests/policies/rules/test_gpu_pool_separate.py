from typing import Any

from policies.rules.gpu_count_cap import gpu_count_cap
from policies.rules.gpu_pool_separate import gpu_pool_separate
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import (
    CLASSIC_CLUSTERS,
    CLUSTER,
    CPU,
    VALID,
    Form,
    every_form,
    pool_cases,
)

SYSTEM = ("Standard_NC8as_T4_v3", "system pool", "mode")
INLINE = ("The inline pool gpu (agentPoolProfiles[0])", "Standard_NC8as_T4_v3")


@pool_cases(
    [
        ({}, []),
        ({"mode": None}, []),
        ({"mode": "System"}, [SYSTEM]),
        ({"mode": "System", "vmSize": CPU}, []),
    ]
)
def test_standalone_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_separate, pool), expected)


def test_a_standalone_pool_that_a_refresh_added_to_its_cluster() -> None:
    """It was called inline, and its GPUs counted twice."""
    names = {"resourceGroupName": "g", "resourceName": "aks"}
    profile = {"name": "gpu", "vmSize": "Standard_NC8as_T4_v3", "count": 2}

    def stack(**more: Any) -> list[Resource]:
        own = {**names, **profile, "agentPoolName": "GPU"} | more
        cluster = {**names, "agentPoolProfiles": [profile]}
        return [
            Resource(type="azure-native:containerservice:ManagedCluster", properties=cluster),
            Resource(type="azure-native:containerservice:AgentPool", properties=own),
        ]

    assert findings(gpu_pool_separate, *stack()) == []
    assert findings(gpu_count_cap, *stack(), config={"gpus": 2}) == []
    for other in ({"resourceName": "another"}, {"agentPoolName": "another"}):
        assert mention(findings(gpu_pool_separate, *stack(**other)), [INLINE])
        assert len(findings(gpu_count_cap, *stack(**other), config={"gpus": 2})) == 1


@pool_cases(
    [({}, [INLINE]), ({"mode": "System"}, [INLINE, SYSTEM]), ({"vmSize": CPU}, [])],
    CLUSTER,
)
def test_inline_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(gpu_pool_separate, pool), expected)


@every_form(CLASSIC_CLUSTERS)
def test_the_pool_of_a_classic_cluster_is_always_a_system_pool(form: Form) -> None:
    texts = findings(gpu_pool_separate, form.resource(VALID))
    assert mention(texts, [(form.label,), ("system pool",)])
