from typing import Any

from policies.rules.gpu_count_cap import gpu_count_cap
from policies.rules.gpu_pool_separate import gpu_pool_separate
from tests.policies.policy_harness import Resource, findings
from tests.policies.pool_variants import CPU, INLINE_FORMS, OWN_FORMS, Form, pool_cases

SYSTEM = (
    "has the GPU size Standard_NC8as_T4_v3 and is a system pool: the cluster's own pods take up "
    "its nodes, and it cannot be scaled to zero. Set mode to User, and have a system pool without "
    "GPUs."
)
INLINE = (
    "has the GPU size Standard_NC8as_T4_v3. Make it a resource of its own: to change one inline "
    "pool is to change the cluster, with all of its pools."
)


@pool_cases(
    [
        ({}, []),
        ({"mode": None}, []),
        ({"mode": "System"}, [SYSTEM]),
        ({"mode": "System", "vmSize": CPU}, []),
    ],
    OWN_FORMS,
)
def test_pools_of_their_own(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    assert findings(gpu_pool_separate, form.resource(pool)) == expected


def test_a_pool_of_its_own_that_a_refresh_has_put_into_the_cluster() -> None:
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
        assert findings(gpu_pool_separate, *stack(**other)) == [
            f"The inline pool agentPoolProfiles[0] {INLINE}"
        ]
        assert len(findings(gpu_count_cap, *stack(**other), config={"gpus": 2})) == 1


@pool_cases(
    [({}, [INLINE]), ({"mode": "System"}, [INLINE, SYSTEM]), ({"vmSize": CPU}, [])],
    INLINE_FORMS,
)
def test_inline_pools(form: Form, pool: dict[str, Any], expected: list[str]) -> None:
    found = findings(gpu_pool_separate, form.resource(pool))
    # The classic provider's inline pool is a system pool whatever is said.
    also = [f"{form.label} {SYSTEM}"] if form.names and pool["vmSize"] != CPU else []
    assert found == expected + also
