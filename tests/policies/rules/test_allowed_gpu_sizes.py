from policies.rules.allowed_gpu_sizes import allowed_gpu_sizes
from tests.policies.policy_harness import Resource, findings, mention
from tests.policies.pool_variants import CPU, pool_cases

SIZES = ["Standard_NC24ads_A100_v4", "Standard_NC16as_T4_v3"]


@pool_cases(
    [
        ({"vmSize": SIZES[0]}, []),
        ({"vmSize": SIZES[1].upper()}, []),
        ({"vmSize": CPU}, []),
        ({}, [("Standard_NC8as_T4_v3", *SIZES)]),
    ]
)
def test_pools(pool: Resource, expected: list[tuple[str, ...]]) -> None:
    assert mention(findings(allowed_gpu_sizes, pool, config={"sizes": SIZES}), expected)
    assert findings(allowed_gpu_sizes, pool) == []
